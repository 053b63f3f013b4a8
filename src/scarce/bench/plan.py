"""The trials of an experiment, and the name of each: a hash of all that determines its result."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from scarce.bench.experiment import Experiment
from scarce.bench.grid import Corrupt, Grid
from scarce.bench.record import key_of
from scarce.bench.versions import method_version
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.methods import available_methods

__all__ = ["AXES", "Trial", "is_current", "plan", "same_cell", "select", "sigma_text"]

AXES = ("data", "setting", "method", "model", "seed")
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
        """The hash of the identity, see `scarce.bench.record.key_of`."""
        return key_of(self.identity)

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
    counts = Counter(tuple(trial.axes.values()) for trial in trials)
    twice = next((trial for trial in trials if counts[tuple(trial.axes.values())] > 1), None)
    if twice is not None:
        raise MethodError(f"two trials are called {twice}; give one of them another label or setting name.")
    first: dict[str, Trial] = {}
    for trial in trials:
        other = first.setdefault(trial.key, trial)
        if other is not trial:
            raise MethodError(
                f"{other} and {trial} are the same trial under two names; leave one out, or change its parameters."
            )
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


def is_current(identity: Mapping[str, Any], planned: Mapping[str, Any]) -> bool:
    """Tell whether a trial was run with the versions of data and method that are planned, as far as they are known.

    Examples
    --------
    >>> planned = {"method_version": "b", "data_checksum": None}
    >>> [is_current({"method_version": version, "data_checksum": "c"}, planned) for version in "ab"]
    [False, True]
    """
    known = (name for name in _VERSIONS if planned[name] is not None)
    return all(identity.get(name) == planned[name] for name in known)


def _names(trial: Trial, axis: str) -> set[str]:
    own = {str(trial.identity["method"])} if axis == "method" else set()
    return {trial.axes[axis], *own}


def _cells(
    grid: Grid, kind: Literal["accuracy", "priors"], checksums: dict[str, str | None]
) -> Iterator[tuple[dict[str, Any], str]]:
    recipe = grid.make_recipe().settings()
    del recipe["seed"]
    versions = {entry.label: method_version(entry.method, entry.params) for entry in grid.methods}
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
                "method_version": versions[entry.label],
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
    return f"{label}, {sigma_text(priors.corrupt) if isinstance(priors, Corrupt) else f'{priors} priors'}"


def sigma_text(sigma: float) -> str:
    """Return how wrong the priors of a row are, as its label ends.

    Examples
    --------
    >>> sigma_text(0.2)
    'σ = 0.2'
    """
    return f"σ = {sigma:g}"
