"""The trials of an experiment, and the name of each: a hash of all that determines its result."""

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any, Literal

from scarce.bench.experiment import Experiment
from scarce.bench.grid import Corrupt, Grid
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.methods import available_methods, make_method
from scarce.priors import PRIOR_ESTIMATORS

__all__ = ["AXES", "Trial", "method_version", "plan", "same_cell", "select"]

AXES = ("data", "setting", "method", "model", "seed")
# Where mathematics stands that a method takes its numbers from.
_ROOMS = ("scarce.methods.", "scarce.priors.", "scarce.pu.", "scarce.risk.")
_NO_MATHEMATICS = ("scarce.methods.base", "scarce.methods.registry", "scarce.priors.registry")
# The fields that say by what a trial was run rather than what it was to be.
_VERSIONS = ("data_checksum", "method_version")


@dataclass(frozen=True)
class Trial:
    """One training to be run: what determines its result, and what it is for.

    Examples
    --------
    >>> trial = Trial({"data": "digits", "seed": 0}, "SCARCE", "quick", "shortened")
    >>> trial.key
    'b5697b5c90ce141e'
    """

    identity: dict[str, Any]
    label: str
    experiment: str
    protocol: Literal["paper", "shortened"]

    @property
    def key(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the identity, written as JSON with sorted keys."""
        text = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def axes(self) -> dict[str, str]:
        """The place of the trial in the tables."""
        return {axis: str(self.label if axis == "method" else self.identity[axis]) for axis in AXES}

    def __str__(self) -> str:
        data, setting, method, model, seed = self.axes.values()
        return f"{data}, {setting}, {method}, {model}, seed {seed}"


def plan(experiment: Experiment, checksum: Callable[[str], str | None]) -> list[Trial]:
    """Return the trials of an experiment, all of the first seed before the second.

    Parameters
    ----------
    experiment : Experiment
        From `scarce.bench.experiment.load_experiment`.
    checksum : callable
        From the name of a data set to the checksum of what it holds; None where it is not at hand.

    Examples
    --------
    >>> from scarce.bench.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"), lambda name: None)
    >>> len(trials), str(trials[0])
    (24, 'digits, uniform, nn, mlp, seed 0')
    """
    trials = [
        Trial(identity, label, experiment.name, experiment.protocol)
        for grid in experiment.grids
        for identity, label in _cells(grid, experiment.kind, {name: checksum(name) for name in grid.data})
    ]
    return sorted(trials, key=lambda trial: int(trial.identity["seed"]))


def select(trials: Sequence[Trial], only: Mapping[str, Iterable[str]]) -> list[Trial]:
    """Return the trials whose place on every axis of `only` is one of those named; a method also by its own name.

    Examples
    --------
    >>> from scarce.bench.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"), lambda name: None)
    >>> len(select(trials, {"method": ["scarce", "ga"], "setting": ["uniform"]}))
    6
    >>> select(trials, {"method": ["scarcy"]})
    Traceback (most recent call last):
    scarce.errors.MethodError: no trial has the method 'scarcy'; there are nn, ga, l-w, scarce.
    """
    for axis, names in only.items():
        if axis not in AXES:
            raise MethodError(f"there is no axis {axis!r}; expected one of {', '.join(AXES)}.")
        wanted = set(names)
        there = list(dict.fromkeys(trial.axes[axis] for trial in trials))
        kept = [trial for trial in trials if wanted & _names(trial, axis)]
        for name in names:
            if not any(name in _names(trial, axis) for trial in trials):
                raise MethodError(f"no trial has the {axis} {name!r}; there are {', '.join(there)}.")
        trials = kept
    return list(trials)


def same_cell(identity: Mapping[str, Any]) -> str:
    """Return a text that is equal for trials that differ only in the versions of data and method.

    Examples
    --------
    >>> same_cell({"seed": 0, "method_version": "a"}) == same_cell({"seed": 0, "method_version": "b"})
    True
    """
    kept = {name: value for name, value in identity.items() if name not in _VERSIONS}
    return json.dumps(kept, sort_keys=True)


@cache
def method_version(name: str) -> str:
    """Return a hash of the source of a method (or an estimator of priors), its bases, and the mathematics it uses.

    What only explains (docstrings, comments) does not count, nor does the interface that all methods share.

    Examples
    --------
    >>> method_version("scarce") == method_version("ga")
    False
    """
    of_priors = PRIOR_ESTIMATORS.get(name)
    # A method may have another as a part of it.
    parts = [of_priors] if of_priors else [type(part) for part in make_method(name).modules()]
    found: dict[str, ModuleType] = {}
    bases = {base.__module__ for part in parts for base in part.__mro__}
    waiting = [parts[0].__module__, *filter(_is_mathematics, bases)]
    while waiting:
        module = sys.modules[waiting.pop()]
        if module.__name__ not in found:
            found[module.__name__] = module
            waiting += _used(module)
    sources = (_statements(inspect.getsource(module)) for _, module in sorted(found.items()))
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:16]


def _used(module: ModuleType) -> set[str]:
    """Return the modules whose functions and classes a module uses."""
    owners = {str(getattr(value, "__module__", "")) for value in vars(module).values()}
    return set(filter(_is_mathematics, owners))


def _is_mathematics(module: str) -> bool:
    return module.startswith(_ROOMS) and module not in _NO_MATHEMATICS


def _statements(source: str) -> str:
    """Return the lines of a module without those of docstrings and comments, and without blank ones."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            start, end = node.lineno - 1, node.end_lineno or node.lineno
            if not lines[start][: node.col_offset].strip():
                lines[start:end] = [""] * (end - start)
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _names(trial: Trial, axis: str) -> set[str]:
    own = {str(trial.identity["method"])} if axis == "method" else set()
    return {trial.axes[axis], *own}


def _cells(
    grid: Grid, kind: Literal["accuracy", "priors"], checksums: dict[str, str | None]
) -> Iterator[tuple[dict[str, Any], str]]:
    recipe = asdict(grid.make_recipe()) | {"augmentation": list(grid.augmentation)}
    del recipe["seed"]
    axes = product(grid.seeds, grid.data, grid.settings, grid.models, grid.methods, grid.priors)
    for seed, data, setting, model, entry, priors in axes:
        needs_transition = kind == "accuracy" and available_methods()[entry.method].needs_transition
        yield (
            {
                "kind": kind,
                "data": data,
                "data_checksum": checksums[data],
                "n_train": grid.n_train or facts_of(data).n_train,
                **({} if grid.imbalance is None else {"imbalance": grid.imbalance}),
                "setting": setting.name,
                "process": setting.process,
                "setting_params": setting.params,
                "method": entry.method,
                "method_params": entry.params,
                "method_version": method_version(entry.method),
                "model": model,
                "seed": seed,
                "priors": priors.model_dump() if isinstance(priors, Corrupt) else priors,
                "transition": grid.transition if needs_transition else None,
                "recipe": recipe,
            },
            _label(entry.label, priors, len(grid.priors) > 1),
        )


def _label(label: str, priors: str | Corrupt, several: bool) -> str:
    if not several:
        return label
    return f"{label}, {f'σ = {priors.corrupt:g}' if isinstance(priors, Corrupt) else f'{priors} priors'}"
