"""A grid of trials in an experiment file: the axes to cross, with label settings and methods as entries."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, prod
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    field_validator,
    model_validator,
)

from scarce._io.schema import check_depth
from scarce._validation import check_option, shorten
from scarce.bench.spec._base import TomlModel
from scarce.bench.spec.trial import Perturbed, RecipeName
from scarce.datasets import available_datasets
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.models import MODELS
from scarce.simulate import PROCESSES, simulate
from scarce.training import RECIPES, Recipe

HUMAN_LABELED = {"clcifar10": "clcifar10", "clcifar20": "clcifar20", "human-cifar10": "clcifar10"}
"""The source of the human labels (`scarce.simulate.human`) of each data set that has them."""

MAX_SEEDS = 1000
"""The largest number of seeds, and of entries of any other axis of a grid."""

_DATASET_LABELS = ("human", "own")  # settings without a process
_SET_PER_TRIAL = ("classes", "seed")


def _check_json_values(params: dict[str, Any]) -> dict[str, Any]:
    check_depth(params)
    for name, value in params.items():
        for leaf in _leaves(value):
            is_finite = (
                isfinite(leaf) if isinstance(leaf, float) else not isinstance(leaf, int) or abs(leaf) < 2**63
            )
            if not isinstance(leaf, str | int | float) or not is_finite:
                raise ValueError(
                    f"{shorten(name)[1:-1]} holds {leaf if isinstance(leaf, float) else shorten(leaf)}; expected finite numbers, "
                    "strings, true or false, or lists and tables of these"
                )
    return params


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value


Params = Annotated[dict[str, Any], AfterValidator(_check_json_values)]
"""Parameters that JSON stores without loss; dates and infinite numbers are rejected."""


def _check_not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError(f"got {name!r}; expected a name that is not blank")
    return name


Name = Annotated[str, AfterValidator(_check_not_blank)]


class Setting(TomlModel):
    """How labels are generated: by a process of `scarce.simulate` or, without one, as the labels of the data set."""

    name: Name
    process: str | None = None
    params: Params = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value, "process": None if value in _DATASET_LABELS else value}
        if isinstance(value, dict) and "process" not in value:
            raise ValueError(
                "a setting in braces needs a process, such as {name='few', process='scar', params={c=0.1}}"
            )
        return value

    @field_validator("process")
    @classmethod
    def _check_process(cls, process: str | None) -> str | None:
        return None if process is None else check_option("process", process, PROCESSES)


class MethodEntry(TomlModel):
    """A row of the table: a method with its parameters, and its label."""

    label: Name
    method: str
    params: Params = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"label": value, "method": value}
        if isinstance(value, dict) and "method" not in value:
            raise ValueError(
                "a method in braces needs its name, such as {method='scarce', params={alpha=0.5}}"
            )
        return {"label": value["method"], **value} if isinstance(value, dict) else value


def as_list(value: Any) -> Any:
    """Return a list unchanged, and any other value as a list of one item; raise if the list is too long."""
    if not isinstance(value, list):
        return [value]
    return _check_length(value)


def as_seeds(value: Any) -> Any:
    """Return a list of seeds unchanged, and a number n as the seeds 0 to n − 1."""
    if isinstance(value, list | tuple):
        return _check_length(value)
    if type(value) is not int or not 1 <= value <= MAX_SEEDS:
        raise ValueError(
            f"got {shorten(value)}; expected a whole number from 1 to {MAX_SEEDS}, or a list of seeds"
        )
    return range(value)


def _check_length(values: Any) -> Any:
    if len(values) > MAX_SEEDS:
        raise ValueError(f"got a list of {len(values)}; expected at most {MAX_SEEDS}: split the experiment")
    return values


def check_unique_names(
    data: Sequence[str],
    settings: Sequence[Setting],
    methods: Sequence[MethodEntry],
    seeds: Sequence[int],
    models: Sequence[str] = (),
) -> None:
    """Raise if an axis of a grid has duplicate names."""
    named: dict[str, Sequence[Any]] = {
        "data": data,
        "models": models,
        "seeds": seeds,
        "settings": [setting.name for setting in settings],
        "methods": [entry.label for entry in methods],
    }
    for axis, names in named.items():
        duplicate = next((name for name, count in Counter(names).items() if count > 1), None)
        if duplicate is not None:
            raise ValueError(
                f"{axis} names {duplicate!r} twice; leave one out, or give it another name or label"
            )


def check_process_params(process: str, params: Mapping[str, Any], n_classes: int) -> None:
    """Raise if a process cannot draw labels for one example of every class with these parameters.

    Rates are not checked against the class priors, which are known only once the data are loaded.

    Examples
    --------
    >>> check_process_params("scar", {"rates": [0.95] + [0.1] * 9}, 10)
    >>> check_process_params("scar", {"ratez": 0.2}, 10)
    Traceback (most recent call last):
    scarce.errors.MethodError: the process 'scar' has no parameter 'ratez'; it takes c, rates, error_rate, classes, seed.
    """
    for name in _SET_PER_TRIAL:
        if name in params:
            raise ValueError(f"each trial sets its own {name}; leave it out")
    try:
        simulate(process, range(n_classes), classes=n_classes, **params)
    except (TypeError, ValueError) as error:
        # Rates that are impossible with these class priors may be valid with others; probabilities c do not depend on priors.
        without = {name: value for name, value in params.items() if name != "rates"}
        if len(without) == len(params) or "c" in params:
            raise
        try:
            simulate(process, range(n_classes), classes=n_classes, c=params["rates"], **without)
        except (TypeError, ValueError):
            raise error from None


def check_processes(data: str, settings: Iterable[Setting], n_classes: int) -> None:
    """Raise if a setting cannot draw labels for `n_classes` classes."""
    for setting in settings:
        if setting.process is not None:
            try:
                check_process_params(setting.process, setting.params, n_classes)
            except (TypeError, ValueError) as error:
                raise ValueError(f"settings: {setting.name} on {data}: {error}") from None


def check_params(make: Callable[..., object], label: str, params: Mapping[str, Any]) -> None:
    """Raise if a method cannot be built with its parameters."""
    try:
        make(**params)
    except (MethodError, TypeError) as error:
        raise ValueError(f"methods: {label}: {error}") from None
    except Exception as error:  # a third-party method may raise anything
        raise ValueError(f"methods: {label} cannot be built: {type(error).__name__}: {error}") from error


# Tagged by type, so that an error message is about the intended alternative.
Priors = Annotated[
    Annotated[Literal["true", "uniform", "estimate", "learn"], Tag("a name")]
    | Annotated[Perturbed, Tag("a table")],
    Discriminator(lambda value: "a name" if isinstance(value, str) else "a table"),
]
FiniteNumber = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Seed = Annotated[StrictInt, Field(ge=0, le=2**32 - 1)]  # the range of a recipe's seed


class Grid(TomlModel):
    """The product of all axes: data × settings × methods × models × priors × seeds, with one recipe.

    With ``imbalance = 8`` the first class keeps all its images, each following class fewer, and the last an eighth.
    With ``early_stopping = true`` a tenth of the training images is held out, and their complementary labels choose the epoch.
    """

    data: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    settings: Annotated[tuple[Setting, ...], BeforeValidator(as_list), Field(min_length=1)]
    methods: Annotated[tuple[MethodEntry, ...], BeforeValidator(as_list), Field(min_length=1)]
    models: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    seeds: Annotated[tuple[Seed, ...], BeforeValidator(as_seeds), Field(min_length=1)] = (0, 1, 2, 3, 4)
    recipe: RecipeName = "paper"
    epochs: StrictInt | None = None
    batch_size: StrictInt | None = None
    learning_rate: FiniteNumber | None = None
    weight_decay: FiniteNumber | None = None
    augmentation: tuple[str, ...] = ()
    n_train: Annotated[StrictInt, Field(ge=1)] | None = None
    imbalance: Annotated[FiniteNumber, Field(gt=1)] | None = None
    priors: Annotated[tuple[Priors, ...], BeforeValidator(as_list), Field(min_length=1)] = ("true",)
    transition: Literal["uniform"] | None = None
    early_stopping: StrictBool = False

    @field_validator("data")
    @classmethod
    def _check_data(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_option("data", name, available_datasets()) for name in names)

    @field_validator("models")
    @classmethod
    def _check_models(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_option("model", name, MODELS) for name in names)

    @model_validator(mode="after")
    def _check_consistent(self) -> "Grid":
        check_unique_names(self.data, self.settings, self.methods, self.seeds, self.models)
        for name in self.data:
            if any(setting.process is None for setting in self.settings) and name not in HUMAN_LABELED:
                raise ValueError(
                    f"settings: {name} has no human labels; leave out 'human', or choose data from {', '.join(HUMAN_LABELED)}"
                )
            if self.n_train is not None and self.n_train > facts_of(name).n_train:
                raise ValueError(
                    f"n_train={self.n_train}, but {name} has {facts_of(name).n_train} training images; lower it or leave it out"
                )
            check_processes(name, self.settings, facts_of(name).n_classes)
        self.make_recipe()
        return self

    @property
    def n_trials(self) -> int:
        """The number of trials: the product of the lengths of all axes."""
        axes = (self.data, self.settings, self.methods, self.models, self.priors, self.seeds)
        return prod(map(len, axes))

    @property
    def uses_all_data(self) -> bool:
        """Whether all training images of the data are used."""
        sizes = {facts_of(name).n_train for name in self.data}
        return self.imbalance is None and (self.n_train is None or sizes == {self.n_train})

    def make_recipe(self) -> Recipe:
        """Return the recipe with the changes in the file; each trial sets its own seed.

        Examples
        --------
        >>> Grid(data="digits", settings="uniform", methods="scarce", models="mlp", epochs=3).make_recipe().epochs
        3
        """
        names = ("epochs", "batch_size", "learning_rate", "weight_decay")
        changes = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(RECIPES[self.recipe], augmentation=self.augmentation, **changes)
