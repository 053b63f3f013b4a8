"""The parts of an experiment: how labels come about, which methods are compared, and what is crossed with what."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from scarce.bench.spec.params import Params, try_process
from scarce.bench.spec.trial import Perturbed
from scarce.datasets import available_datasets
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.models import MODELS
from scarce.simulate import PROCESSES
from scarce.training import RECIPES, Recipe

__all__ = [
    "MOST_SEEDS",
    "OWN_LABELS",
    "Grid",
    "MethodEntry",
    "Seed",
    "Setting",
    "TomlModel",
    "Whole",
    "as_list",
    "as_seeds",
    "check_named_once",
    "check_processes",
    "check_row",
    "one_of",
]

OWN_LABELS = {"clcifar10": "clcifar10", "clcifar20": "clcifar20", "human-cifar10": "clcifar10"}
"""Data sets with labels by people, and whose way of labelling it is (`scarce.simulate.human`)."""

MOST_SEEDS = 1000
"""So many seeds may be asked for by their number; a list may hold more."""

_OF_THE_DATA = ("human", "own")


def _check_not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError(f"got {name!r}; expected a name that can be read")
    return name


Name = Annotated[str, AfterValidator(_check_not_blank)]


class TomlModel(BaseModel):
    """A table of a TOML file, in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(TomlModel):
    """How labels come about: a process of `scarce.simulate`, or, without one, the labels that the data set has."""

    name: Name
    process: str | None = None
    params: Params = {}

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value, "process": None if value in _OF_THE_DATA else value}
        if isinstance(value, dict) and "process" not in value:
            raise ValueError(
                "a setting in braces needs a process, such as {name='few', process='scar', params={c=0.1}}"
            )
        return value

    @field_validator("process")
    @classmethod
    def _known(cls, process: str | None) -> str | None:
        return None if process is None else one_of("setting", process, PROCESSES)


class MethodEntry(TomlModel):
    """A row of the table: a method with its parameters, and what to call it."""

    label: Name
    method: str
    params: Params = {}

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"label": value, "method": value}
        return {"label": value.get("method"), **value} if isinstance(value, dict) else value


def as_list(value: Any) -> Any:
    """Return a list; anything else becomes the only item of one."""
    return value if isinstance(value, list) else [value]


def as_seeds(value: Any) -> Any:
    """Return seeds: those of a list, or as many as a number says, from 0 on."""
    if isinstance(value, list | tuple):
        return value
    if type(value) is not int or not 1 <= value <= MOST_SEEDS:
        raise ValueError(f"got {value!r}; expected a whole number from 1 to {MOST_SEEDS}, or a list of seeds")
    return range(value)


def one_of(what: str, name: str, known: Iterable[str]) -> str:
    """Return a name that is known, or say which are."""
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")
    return name


def check_named_once(
    data: Sequence[str],
    settings: Sequence[Setting],
    methods: Sequence[MethodEntry],
    seeds: Sequence[int],
    models: Sequence[str] = (),
) -> None:
    """Raise if an axis of a grid has a name twice."""
    named: dict[str, Sequence[Any]] = {
        "data": data,
        "models": models,
        "seeds": seeds,
        "settings": [setting.name for setting in settings],
        "methods": [entry.label for entry in methods],
    }
    for axis, names in named.items():
        twice = next((name for name in names if list(names).count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{axis} names {twice!r} twice; leave one out, or give it another name or label")


def check_processes(data: str, settings: Iterable[Setting], n_classes: int) -> None:
    """Raise if labels of so many classes cannot be drawn as a setting says."""
    for setting in settings:
        if setting.process is not None:
            try:
                try_process(setting.process, setting.params, n_classes)
            except (TypeError, ValueError) as error:
                raise ValueError(f"settings: {setting.name} on {data}: {error}") from None


def check_row(make: Callable[..., object], label: str, params: Mapping[str, Any]) -> None:
    """Raise if a method cannot be made with its parameters."""
    try:
        make(**params)
    except (MethodError, TypeError) as error:
        raise ValueError(f"methods: {label}: {error}") from None
    except Exception as error:  # whatever a method of someone's own may do
        raise ValueError(f"methods: {label} cannot be made: {type(error).__name__}: {error}") from error


# Told apart by their kind, so that a message is about the one that was meant.
Priors = Annotated[
    Annotated[Literal["true", "uniform", "estimate", "learn"], Tag("a name")]
    | Annotated[Perturbed, Tag("a table")],
    Discriminator(lambda value: "a name" if isinstance(value, str) else "a table"),
]
Whole = Annotated[int, Field(strict=True)]  # "2" and true are none
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Seed = Annotated[Whole, Field(ge=0, le=2**32 - 1)]  # as a recipe takes them


class Grid(TomlModel):
    """Everything crossed with everything: data × settings × methods × models × priors × seeds, with one recipe.

    With ``imbalance = 8`` the first class keeps all its images and every further one fewer, the last an eighth of its own.
    With ``early_stopping = true`` a tenth of the training images is held out, and their complementary labels choose the epoch.
    """

    data: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    settings: Annotated[tuple[Setting, ...], BeforeValidator(as_list), Field(min_length=1)]
    methods: Annotated[tuple[MethodEntry, ...], BeforeValidator(as_list), Field(min_length=1)]
    models: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)]
    seeds: Annotated[tuple[Seed, ...], BeforeValidator(as_seeds), Field(min_length=1)] = (0, 1, 2, 3, 4)
    recipe: Literal["paper", "annealed"] = "paper"
    epochs: Whole | None = None
    batch_size: Whole | None = None
    learning_rate: Number | None = None
    weight_decay: Number | None = None
    augmentation: tuple[str, ...] = ()
    n_train: Annotated[Whole, Field(ge=1)] | None = None
    imbalance: Annotated[Number, Field(gt=1)] | None = None
    priors: Annotated[tuple[Priors, ...], BeforeValidator(as_list), Field(min_length=1)] = ("true",)
    transition: Literal["uniform"] | None = None
    early_stopping: Annotated[bool, Field(strict=True)] = False

    @field_validator("data")
    @classmethod
    def _known_data(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one_of("data set", name, available_datasets()) for name in names)

    @field_validator("models")
    @classmethod
    def _known_models(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one_of("model", name, MODELS) for name in names)

    @model_validator(mode="after")
    def _consistent(self) -> "Grid":
        check_named_once(self.data, self.settings, self.methods, self.seeds, self.models)
        for name in self.data:
            if any(setting.process is None for setting in self.settings) and name not in OWN_LABELS:
                raise ValueError(
                    f"settings: {name} has no labels by people; leave out 'human', or choose data of {', '.join(OWN_LABELS)}"
                )
            if self.n_train is not None and self.n_train > facts_of(name).n_train:
                raise ValueError(
                    f"n_train is {self.n_train}, but {name} has {facts_of(name).n_train} training images"
                )
            check_processes(name, self.settings, facts_of(name).n_classes)
        self.make_recipe()
        return self

    @property
    def is_whole(self) -> bool:
        """Whether all training images of the data are used."""
        sizes = {facts_of(name).n_train for name in self.data}
        return self.imbalance is None and (self.n_train is None or sizes == {self.n_train})

    def make_recipe(self) -> Recipe:
        """Return the recipe with what the file changes in it; its seed is that of the trial.

        Examples
        --------
        >>> Grid(data="digits", settings="uniform", methods="scarce", models="mlp", epochs=3).make_recipe().epochs
        3
        """
        names = ("epochs", "batch_size", "learning_rate", "weight_decay")
        changes = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(RECIPES[self.recipe], augmentation=self.augmentation, **changes)
