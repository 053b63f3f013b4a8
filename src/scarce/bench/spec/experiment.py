"""Experiments and their TOML files: which data, labels, methods and networks are compared, and how."""

import re
import tomllib
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag, ValidationError, model_validator

from scarce._io.paths import check_file
from scarce._validation import check_integer, check_option
from scarce.bench.spec._base import TomlModel, describe_error
from scarce.bench.spec._classifier_grid import ClassifierGrid
from scarce.bench.spec._grid import MAX_SEEDS, Grid, MethodEntry, Setting, check_params
from scarce.bench.spec.trial import Kind, Perturbed, ProtocolName, RecipeName
from scarce.errors import FileError, MethodError
from scarce.methods import available_methods, make_method
from scarce.priors import PRIOR_ESTIMATORS
from scarce.training import PAPER, Recipe

_MAX_TRIALS = 1_000_000
_MAX_BYTES = 32_768  # of a file
_MAX_KEY_PARTS = 20  # of a dotted key; reading longer keys takes quadratic time
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_MAX_KEY_PARTS}}}")
_TABLES: dict[str, type[BaseModel]] = {"settings": Setting, "methods": MethodEntry, "priors": Perturbed}


def _grid_tag(grid: Any) -> str:
    return (
        "classifiers"
        if "split" in (grid if isinstance(grid, dict) else type(grid).model_fields)
        else "networks"
    )


AnyGrid = Annotated[
    Annotated[Grid, Tag("networks")] | Annotated[ClassifierGrid, Tag("classifiers")], Discriminator(_grid_tag)
]


class Experiment(TomlModel):
    """An experiment: one or more grids of trials.

    Attributes
    ----------
    name, title : str
        The name on the command line, and the title of reports.
    kind : {"accuracy", "priors", "classifiers"}
        Whether networks are trained, class priors estimated (by the estimators of `scarce.priors`), or classifiers compared
        (each grid is then a `ClassifierGrid`).
    protocol : {"paper", "shortened", "own"}
        Whether it repeats an experiment of the paper, shortens it, or is not in the paper.
    description : str
        Remarks shown by `scarce bench status` and in reports.
    grids : tuple of Grid or ClassifierGrid
        In the TOML file, all grids share the top-level keys, and each ``[[grid]]`` table holds what differs.

    See Also
    --------
    load_experiment : Read an experiment.
    Plan : The trials of an experiment.

    Examples
    --------
    >>> experiment = Experiment.model_validate({
    ...     "name": "mine", "title": "Mine", "protocol": "own", "data": "digits", "settings": ["uniform"],
    ...     "methods": ["scarce", "nn"], "models": "mlp", "seeds": 3, "recipe": "annealed"})
    >>> experiment.grids[0].seeds
    (0, 1, 2)
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str
    protocol: ProtocolName
    description: str = ""
    kind: Kind = "accuracy"
    grids: tuple[AnyGrid, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _split_grids(cls, content: Any) -> Any:
        if not isinstance(content, dict) or "grids" in content:
            return content
        fields = _grid_type(content).model_fields
        shared = {name: value for name, value in content.items() if name in fields}
        tables = content.get("grid", [{}])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise ValueError("grid is not a list of tables; write [[grid]] above each table")
        if len(tables) > MAX_SEEDS:
            raise ValueError(f"there are {len(tables)} tables [[grid]]; expected at most {MAX_SEEDS}")
        if not tables:
            raise ValueError("grid is empty; write [[grid]] above each table, or leave it out")
        rest = {name: value for name, value in content.items() if name not in shared and name != "grid"}
        grids = [shared | table for table in tables]
        needs_split = content.get("kind") == "classifiers"
        if needs_split and not all("split" in grid for grid in grids):
            raise ValueError("the field 'split' is missing; add split = '70/30', '10-fold' or 'standard'")
        if not needs_split and any("split" in grid for grid in [content, *grids]):
            raise ValueError("split requires kind = 'classifiers'; add that, or leave out split")
        return rest | {"grids": grids}

    @model_validator(mode="after")
    def _check_size(self) -> "Experiment":
        n_trials = sum(grid.n_trials for grid in self.grids)
        if n_trials > _MAX_TRIALS:
            raise ValueError(
                f"the grids have {n_trials} trials; expected at most {_MAX_TRIALS}: split the experiment"
            )
        return self

    @model_validator(mode="after")
    def _check_methods(self) -> "Experiment":
        for grid in self._network_grids:
            for entry in grid.methods:
                if self.kind == "priors":
                    check_option("estimator", entry.method, PRIOR_ESTIMATORS)
                    check_params(PRIOR_ESTIMATORS[entry.method], entry.label, entry.params)
                    continue
                check_option("method", entry.method, available_methods())
                check_params(partial(make_method, entry.method), entry.label, entry.params)
                facts = available_methods()[entry.method]
                if facts.needs_transition and grid.transition is None:
                    raise ValueError(f"{entry.method} needs a transition matrix; add transition = 'uniform'")
                if "learn" in grid.priors and not facts.learns_priors:
                    raise ValueError(
                        f"{entry.method} does not learn priors; set priors = 'true' or 'estimate'"
                    )
        return self

    @model_validator(mode="after")
    def _check_protocol(self) -> "Experiment":
        if self.protocol == "paper" and self.kind == "classifiers":
            raise ValueError("protocol: the paper does not compare classifiers; set protocol = 'own'")
        repeats_paper = all(
            grid.uses_all_data and _is_paper_recipe(grid.make_recipe()) for grid in self._network_grids
        )
        if self.protocol == "paper" and self.kind == "accuracy" and not repeats_paper:
            raise ValueError(
                f"protocol: the paper's is the recipe 'paper' ({PAPER.epochs} epochs, batches of {PAPER.batch_size}, learning "
                f"rate {PAPER.learning_rate:g}) on all training images; set protocol = 'shortened'"
            )
        return self

    @property
    def _network_grids(self) -> list[Grid]:
        return [grid for grid in self.grids if isinstance(grid, Grid)]

    def changed(
        self,
        *,
        epochs: int | None = None,
        seeds: int | None = None,
        recipe: RecipeName | None = None,
    ) -> "Experiment":
        """Return the experiment with other epochs, seeds or recipe; a changed recipe makes its protocol ``shortened``.

        Parameters
        ----------
        epochs : int, optional
            The number of epochs.
        seeds : int, optional
            The number of seeds, starting at 0.
        recipe : {"annealed", "fast", "paper"}, optional
            The recipe, with its own number of epochs unless `epochs` is given.

        Returns
        -------
        Experiment
            The changed experiment; its description is empty, since it may mention epochs and seeds.

        Raises
        ------
        MethodError
            If `seeds` is out of range, or classifiers are compared and `epochs` or `recipe` is given.

        Examples
        --------
        >>> load_experiment("paper-mnist").changed(epochs=20).protocol
        'shortened'
        """
        if seeds is not None:
            check_integer("seeds", seeds, 1, MAX_SEEDS)
        if self.kind == "classifiers" and (epochs is not None or recipe is not None):
            raise MethodError(
                f"{self.name} compares classifiers, each with its own recipe; leave out --epochs and --recipe, or set epochs in "
                "the params of a method."
            )
        changes: dict[str, Any] = {} if recipe is None else {"recipe": recipe, "epochs": None}
        changes |= {} if epochs is None else {"epochs": epochs}
        changes |= {} if seeds is None else {"seeds": tuple(range(seeds))}
        grids = tuple(grid.model_copy(update=changes) for grid in self.grids)
        changed = self.model_copy(update={"grids": grids})
        pairs = zip(self._network_grids, changed._network_grids, strict=True)
        kept = {
            "protocol": self.protocol
            if all(old.make_recipe() == new.make_recipe() for old, new in pairs)
            else "shortened",
            "description": self.description
            if grids == self.grids
            else "",  # which may mention epochs and seeds
        }
        for grid in grids:
            if isinstance(grid, ClassifierGrid):
                try:
                    grid.check_seeds()
                except ValueError as error:
                    raise MethodError(f"{error} (--seeds).") from None
        return changed.model_copy(update=kept)


def available_experiments() -> dict[str, str]:
    """Return the titles of the experiments that come with the library, by name.

    Returns
    -------
    dict of str to str
        The titles, sorted by name.

    See Also
    --------
    load_experiment : Read one of them.

    Examples
    --------
    >>> available_experiments()["paper-mnist"]
    'Table 2: MNIST'
    """
    folder = resources.files("scarce.bench.spec") / "experiments"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name
    )
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))["title"] for file in files
    }


def load_experiment(name: str | Path) -> Experiment:
    """Read an experiment.

    Parameters
    ----------
    name : str or Path
        The name of an experiment that comes with the library, or a TOML file.

    Returns
    -------
    Experiment
        The validated experiment.

    Raises
    ------
    FileError
        If there is no such experiment, or the file is not a valid experiment.

    See Also
    --------
    available_experiments : The experiments that come with the library.
    Plan : The trials of an experiment.

    Examples
    --------
    >>> load_experiment("quick-digits").protocol
    'shortened'
    >>> load_experiment("paper-minst")
    Traceback (most recent call last):
    scarce.errors.FileError: there is no experiment 'paper-minst'; name a .toml file, or choose one of ...
    """
    if str(name) in available_experiments():
        text = (resources.files("scarce.bench.spec") / "experiments" / f"{name}.toml").read_text("utf-8")
    elif Path(name).suffix.lower() == ".toml" or Path(name).is_file():
        text = _read_text(check_file(name))
        _check_keys(text, name)
    else:
        raise FileError(
            f"there is no experiment {str(name)!r}; name a .toml file, or choose one of {', '.join(available_experiments())}."
        )
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: too deeply nested tables
        raise FileError(f"{name} is not a TOML file: {' '.join(str(error).split())}.") from None
    try:
        return Experiment.model_validate(content)
    except ValidationError as error:
        raise FileError(f"{name}: {_describe(error, _grid_type(content))}.") from None


def _check_keys(text: str, name: str | Path) -> None:
    """Raise if a key has so many parts that the parser would take long."""
    if _LONG_KEY.search(re.sub(r"\"[^\"\n]*\"|'[^'\n]*'", "quoted", text)):
        raise FileError(f"{name} has a key of more than {_MAX_KEY_PARTS} parts; expected keys without dots.")


def _read_text(path: Path) -> str:
    """Return the text of a file, after a check of its size."""
    try:
        n_bytes = path.stat().st_size
        text = path.read_text("utf-8-sig") if n_bytes <= _MAX_BYTES else ""  # may have a byte-order mark
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read as text: {error}.") from error
    if n_bytes > _MAX_BYTES:
        raise FileError(
            f"{path} has {n_bytes:,} bytes; an experiment has at most {_MAX_BYTES:,}: write several experiments."
        )
    return text


def _is_paper_recipe(recipe: Recipe) -> bool:
    """Return whether a recipe is that of the paper, whose weight decay and augmentation depend on the data."""
    return recipe == replace(PAPER, weight_decay=recipe.weight_decay, augmentation=recipe.augmentation)


def _grid_type(content: dict[str, Any]) -> type[Grid] | type[ClassifierGrid]:
    return ClassifierGrid if content.get("kind") == "classifiers" else Grid


def _describe(error: ValidationError, grid: type[Grid] | type[ClassifierGrid]) -> str:
    at_the_top = sorted({*Experiment.model_fields, *grid.model_fields} - {"grids"})
    return describe_error(
        error, {"": at_the_top, **{name: table.model_fields for name, table in _TABLES.items()}}
    )
