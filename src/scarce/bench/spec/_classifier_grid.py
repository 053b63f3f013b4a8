"""A grid that compares classifiers on small tables, texts, real candidate sets and images."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from scarce._validation import check_option, shorten
from scarce.bench.baselines import BASELINES
from scarce.bench.spec._base import TomlModel, describe_error
from scarce.bench.spec._embedded_tables import experiment_tables
from scarce.bench.spec._grid import (
    FiniteNumber,
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
from scarce.bench.spec.trial import RecipeName
from scarce.datasets import DatasetFacts, TableFacts, available_datasets
from scarce.errors import MethodError
from scarce.methods import available_methods, make_method
from scarce.training import RECIPES

AUTO = "auto"
"""The row of `ScarceClassifier` with its default arguments."""


class ClassifierParams(TomlModel):
    """The parameters of `scarce.ScarceClassifier` that a row may set."""

    module: Literal["auto", "linear", "nystroem", "mlp", "lenet", "resnet"] = "auto"
    method_params: Params = Field(default_factory=dict)
    transition: Literal["uniform"] | None = None
    recipe: RecipeName = "annealed"
    epochs: Annotated[StrictInt, Field(ge=1)] | None = None
    batch_size: StrictInt | None = None
    learning_rate: FiniteNumber | None = None
    weight_decay: FiniteNumber | None = None
    augmentation: tuple[str, ...] | None = None
    input_noise: FiniteNumber | None = None
    dropout: FiniteNumber | None = None
    early_stopping: StrictBool | None = None
    time_limit: Annotated[FiniteNumber, Field(gt=0)] | None = None

    def check_recipe(self) -> None:
        """Raise a `MethodError` if a parameter of the recipe is invalid."""
        names = (
            "epochs", "batch_size", "learning_rate", "weight_decay", "augmentation", "input_noise", "dropout",
        )  # fmt: skip
        replace(
            RECIPES[self.recipe],
            **{name: value for name in names if (value := getattr(self, name)) is not None},
        )


class ClassifierGrid(TomlModel):
    """Classifiers crossed with data, settings and seeds.

    Attributes
    ----------
    split : {"70/30", "10-fold", "standard"}
        How tables are divided into training and test rows, see `scarce.bench.spec._splits.train_test_rows`; or ``standard``, the
        standard training and test sets of images.
    data : tuple of str
        Names of `experiment_tables` or, with ``standard``, of `scarce.datasets.available_datasets`.
    n_train : tuple of int or None
        The numbers of training images, drawn from the seed; None for all.
    settings : tuple of Setting
        How labels are generated; ``own`` means the candidate sets of the data.
    methods : tuple of MethodEntry
        ``auto``, methods of `scarce.methods`, and `scarce.bench.baselines`; parameters are `ClassifierParams`.
    seeds : tuple of int
        The seeds of splits, labels and classifiers; with ``10-fold``, the numbers of the folds.
    """

    split: Split  # before the data, whose names depend on it
    data: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    n_train: Annotated[
        tuple[Annotated[StrictInt, Field(ge=1)] | None, ...], BeforeValidator(as_list), Field(min_length=1)
    ] = (None,)
    settings: Annotated[tuple[Setting, ...], BeforeValidator(as_list), Field(min_length=1)]
    methods: Annotated[tuple[MethodEntry, ...], BeforeValidator(as_list), Field(min_length=1)]
    seeds: Annotated[tuple[Seed, ...], BeforeValidator(as_seeds), Field(min_length=1)] = (0, 1, 2, 3, 4)

    @field_validator("data")
    @classmethod
    def _check_data(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("split") == "standard":
            return tuple(check_option("data", name, available_datasets()) for name in names)
        also = "with split = 'standard', a data set of images"
        return tuple(check_option("data", name, experiment_tables(), also=also) for name in names)

    @model_validator(mode="after")
    def _check_consistent(self) -> "ClassifierGrid":
        check_unique_names(self.data, self.settings, self.methods, self.seeds)
        self.check_seeds()
        for name in self.data:
            facts = self._facts(name)
            has_candidates = isinstance(facts, TableFacts) and facts.has_candidates
            if any(setting.process is None for setting in self.settings) and not has_candidates:
                with_candidates = [key for key, table in experiment_tables().items() if table.has_candidates]
                raise ValueError(
                    f"settings: {name} has no candidate sets; leave out 'own', or choose data from "
                    f"{', '.join(with_candidates)}"
                )
            check_processes(name, self.settings, facts.n_classes)
            self._check_n_train(name, facts)
        for entry in self.methods:
            _check_entry(entry, is_image=self.split == "standard")
        return self

    def _facts(self, name: str) -> TableFacts | DatasetFacts:
        return available_datasets()[name] if self.split == "standard" else experiment_tables()[name]

    def _check_n_train(self, name: str, facts: TableFacts | DatasetFacts) -> None:
        for n_train in self.n_train:
            if n_train is not None and isinstance(facts, TableFacts):
                raise ValueError("n_train is for images; leave it out, or set split = 'standard'")
            if n_train is not None and isinstance(facts, DatasetFacts) and n_train > facts.n_train:
                raise ValueError(
                    f"n_train={n_train}, but {name} has {facts.n_train} training images; lower it or leave it out"
                )

    @property
    def n_trials(self) -> int:
        """The number of trials: the product of the lengths of all axes."""
        return prod(map(len, (self.data, self.n_train, self.settings, self.methods, self.seeds)))

    def check_seeds(self) -> None:
        """Raise if a seed is not the number of a fold."""
        if self.split == "10-fold" and max(self.seeds) >= N_FOLDS:
            raise ValueError(
                f"seeds: {max(self.seeds)} is not a fold; with split = '10-fold' expected seeds from 0 to {N_FOLDS - 1}"
            )


def _check_entry(entry: MethodEntry, *, is_image: bool) -> None:
    """Raise if a row is unknown, or its parameters do not fit its classifier or the data."""
    check_option("method", entry.method, (AUTO, *available_methods(), *BASELINES))
    if is_image and entry.method in BASELINES:
        raise ValueError(
            f"methods: {entry.label} takes tables; leave it out of grids with split = 'standard'"
        )
    known: Mapping[str, Any] = {} if entry.method in BASELINES else ClassifierParams.model_fields
    for name in entry.params:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"methods: {entry.label} has no parameter {shorten(name)}; {takes}")
    if entry.method in BASELINES:
        return
    try:
        params = ClassifierParams.model_validate(entry.params)
        params.check_recipe()
    except ValidationError as error:
        raise ValueError(f"methods: {entry.label}: {describe_error(error)}") from None
    except MethodError as error:
        raise ValueError(f"methods: {entry.label}: {error}") from None
    if params.module in ("lenet", "resnet") and not is_image:
        raise ValueError(
            f"methods: {entry.label}: module {params.module!r} takes images; choose linear or mlp"
        )
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
