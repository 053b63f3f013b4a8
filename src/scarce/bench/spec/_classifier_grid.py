"""A grid that compares classifiers on small tables, texts and real candidate sets."""

from collections.abc import Mapping
from functools import partial
from math import prod
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)

from scarce._validation import check_option, shorten
from scarce.bench.baselines import BASELINES
from scarce.bench.spec._base import TomlModel, describe_error
from scarce.bench.spec._embedded_tables import experiment_tables
from scarce.bench.spec._grid import (
    MethodEntry,
    Params,
    Seed,
    Setting,
    as_list,
    as_seeds,
    check_params,
    check_processes,
    check_unique_names,
)
from scarce.bench.spec._splits import N_FOLDS, Split
from scarce.methods import available_methods, make_method

AUTO = "auto"
"""The row of `ScarceClassifier` with its default arguments."""


class ClassifierParams(TomlModel):
    """The parameters of `scarce.ScarceClassifier` that a row may set."""

    module: Literal["auto", "linear", "nystroem", "mlp"] = "auto"
    method_params: Params = Field(default_factory=dict)
    transition: Literal["uniform"] | None = None
    epochs: Annotated[StrictInt, Field(ge=1)] | None = None
    early_stopping: StrictBool | None = None


class ClassifierGrid(TomlModel):
    """Classifiers crossed with data, settings and seeds.

    Attributes
    ----------
    data : tuple of str
        Names of `scarce.bench.spec._embedded_tables.experiment_tables`.
    split : {"70/30", "10-fold"}
        How rows are divided into training and test rows, see `scarce.bench.spec._splits.train_test_rows`.
    settings : tuple of Setting
        How labels are generated; ``own`` means the candidate sets of the data.
    methods : tuple of MethodEntry
        ``auto``, methods of `scarce.methods`, and `scarce.bench.baselines`; parameters are `ClassifierParams`.
    seeds : tuple of int
        The seeds of splits, labels and classifiers; with ``10-fold``, the numbers of the folds.
    """

    data: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    split: Split
    settings: Annotated[tuple[Setting, ...], BeforeValidator(as_list), Field(min_length=1)]
    methods: Annotated[tuple[MethodEntry, ...], BeforeValidator(as_list), Field(min_length=1)]
    seeds: Annotated[tuple[Seed, ...], BeforeValidator(as_seeds), Field(min_length=1)] = (0, 1, 2, 3, 4)

    @field_validator("data")
    @classmethod
    def _check_data(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_option("data", name, experiment_tables()) for name in names)

    @model_validator(mode="after")
    def _check_consistent(self) -> "ClassifierGrid":
        check_unique_names(self.data, self.settings, self.methods, self.seeds)
        self.check_seeds()
        for name in self.data:
            facts = experiment_tables()[name]
            if any(setting.process is None for setting in self.settings) and not facts.has_candidates:
                with_candidates = [key for key, table in experiment_tables().items() if table.has_candidates]
                raise ValueError(
                    f"settings: {name} has no candidate sets; leave out 'own', or choose data from "
                    f"{', '.join(with_candidates)}"
                )
            check_processes(name, self.settings, facts.n_classes)
        for entry in self.methods:
            _check_entry(entry)
        return self

    @property
    def n_trials(self) -> int:
        """The number of trials: the product of the lengths of all axes."""
        return prod(map(len, (self.data, self.settings, self.methods, self.seeds)))

    def check_seeds(self) -> None:
        """Raise if a seed is not the number of a fold."""
        if self.split == "10-fold" and max(self.seeds) >= N_FOLDS:
            raise ValueError(
                f"seeds: {max(self.seeds)} is not a fold; with split = '10-fold' expected seeds from 0 to {N_FOLDS - 1}"
            )


def _check_entry(entry: MethodEntry) -> None:
    """Raise if a row is unknown, or its parameters do not fit its classifier."""
    check_option("method", entry.method, (AUTO, *available_methods(), *BASELINES))
    known: Mapping[str, Any] = {} if entry.method in BASELINES else ClassifierParams.model_fields
    for name in entry.params:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"methods: {entry.label} has no parameter {shorten(name)}; {takes}")
    if entry.method in BASELINES:
        return
    try:
        params = ClassifierParams.model_validate(entry.params)
    except ValidationError as error:
        raise ValueError(f"methods: {entry.label}: {describe_error(error)}") from None
    if entry.method == AUTO:
        if params.method_params:
            raise ValueError(f"methods: {entry.label}: auto chooses its methods; leave out method_params")
        return
    if params.module == "nystroem":
        raise ValueError(
            f"methods: {entry.label}: module 'nystroem' requires method auto; choose linear or mlp"
        )
    check_params(partial(make_method, entry.method), entry.label, params.method_params)
    if available_methods()[entry.method].needs_transition and params.transition is None:
        raise ValueError(
            f"methods: {entry.label} needs a transition matrix; add params = {{ transition = 'uniform' }}"
        )
