"""The trials of an experiment, and the name of each: a hash of all that determines its result."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from scarce import models, training
from scarce._validation import check_option
from scarce.bench.baselines import BASELINES, BASELINES_REVISION
from scarce.bench.spec.classifier_grid import AUTO, ClassifierGrid
from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.grid import Grid
from scarce.bench.spec.splits import train_test_rows
from scarce.bench.spec.trial import Kind, Perturbed, PriorSource, ProtocolName, TrialSpec
from scarce.bench.trials.record import TrialRecord
from scarce.datasets import available_tables
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.estimators.auto.stacked_method import StackedMethod
from scarce.methods import available_methods
from scarce.priors import PRIOR_ESTIMATORS
from scarce.simulate import registry as processes

__all__ = ["AXES", "Trial", "plan", "planned_records", "select", "sigma_text"]

AXES = ("data", "setting", "method", "model", "seed")


@dataclass(frozen=True)
class Trial:
    """One training to be run: what determines its result, and what it is for.

    Examples
    --------
    >>> spec = TrialSpec(data="digits", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> str(Trial(spec, "SCARCE", "quick", "shortened"))
    'digits, uniform, SCARCE, mlp, seed 0'
    """

    spec: TrialSpec
    label: str
    experiment: str
    protocol: ProtocolName

    @property
    def key(self) -> str:
        """The hash of the spec."""
        return self.spec.key

    @property
    def axes(self) -> dict[str, str]:
        """The place of the trial in the tables."""
        return {axis: str(self.label if axis == "method" else getattr(self.spec, axis)) for axis in AXES}

    def __str__(self) -> str:
        *names, seed = self.axes.values()
        return f"{', '.join(filter(None, names))}, seed {seed}"


def plan(experiment: Experiment, checksum: Callable[[str], str | None]) -> list[Trial]:
    """Return the trials of an experiment, all of the first seed before the second.

    Parameters
    ----------
    experiment : Experiment
        From `scarce.bench.spec.experiment.load_experiment`.
    checksum : callable
        From the name of a data set to the checksum of what it holds; None where it is not at hand.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"), lambda name: None)
    >>> len(trials), str(trials[0])
    (24, 'digits, uniform, nn, mlp, seed 0')
    """
    trials = [
        Trial(spec, label, experiment.name, experiment.protocol)
        for grid in experiment.grids
        for checksums in [{name: checksum(name) for name in grid.data}]
        for spec, label in (
            _classifier_cells(grid, checksums)
            if isinstance(grid, ClassifierGrid)
            else _cells(grid, experiment.kind, checksums)
        )
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
    return sorted(trials, key=lambda trial: trial.spec.seed)


def select(trials: Sequence[Trial], only: Mapping[str, Iterable[str]]) -> list[Trial]:
    """Return the trials whose place on every axis of `only` is one of those named; a method also by its own name.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"), lambda name: None)
    >>> len(select(trials, {"method": ["scarce", "ga"], "setting": ["uniform"]}))
    6
    >>> select(trials, {"method": ["scarcy"]})
    Traceback (most recent call last):
    scarce.errors.MethodError: no trial has the method 'scarcy'; there are nn, ga, l-w, scarce.
    """
    for axis, names in only.items():
        check_option("axis", axis, AXES)
        wanted = set(names)
        there = list(dict.fromkeys(trial.axes[axis] for trial in trials))
        kept = [trial for trial in trials if wanted & _names(trial, axis)]
        for name in names:
            if not any(name in _names(trial, axis) for trial in trials):
                raise MethodError(f"no trial has the {axis} {name!r}; there are {', '.join(there)}.")
        trials = kept
    return list(trials)


def planned_records(trials: Iterable[Trial], records: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Return the records of planned trials: of several of one trial, the latest of the current revision, or the latest.

    They are matched by what was to be run, so the data need not be available.

    Parameters
    ----------
    trials : iterable of Trial
        From `plan`.
    records : iterable of TrialRecord
        In the order in which they were finished.
    """
    planned = {trial.spec.cell: trial.spec for trial in trials}
    earlier: dict[str, TrialRecord] = {}
    current: dict[str, TrialRecord] = {}
    for record in records:
        cell = record.spec.cell
        if cell in planned:
            (current if record.spec.is_current(planned[cell]) else earlier)[cell] = record
    return list((earlier | current).values())


def _names(trial: Trial, axis: str) -> set[str]:
    own = {trial.spec.method} if axis == "method" else set()
    return {trial.axes[axis], *own}


def _cells(grid: Grid, kind: Kind, checksums: dict[str, str | None]) -> Iterator[tuple[TrialSpec, str]]:
    recipe = grid.make_recipe().settings()
    del recipe["seed"]
    axes = product(grid.seeds, grid.data, grid.settings, grid.models, grid.methods, grid.priors)
    for seed, data, setting, model, entry, priors in axes:
        needs_transition = kind == "accuracy" and available_methods()[entry.method].needs_transition
        spec = TrialSpec(
            kind=kind,
            data=data,
            data_checksum=checksums[data],
            n_train=grid.n_train or facts_of(data).n_train,
            imbalance=grid.imbalance,
            setting=setting.name,
            process=setting.process,
            setting_params=setting.params,
            method=entry.method,
            method_params=entry.params,
            model=model,
            seed=seed,
            priors=priors,
            transition=grid.transition if needs_transition else None,
            recipe=recipe,
            early_stopping=grid.early_stopping,
            method_revision=_revision_of(entry.method, kind),
            labels_revision=processes.REVISION,
            model_revision=models.registry.REVISION,
            training_revision=training.loop.REVISION,
        )
        yield spec, _label(entry.label, priors, len(grid.priors) > 1)


def _classifier_cells(
    grid: ClassifierGrid, checksums: dict[str, str | None]
) -> Iterator[tuple[TrialSpec, str]]:
    for seed, data, setting, entry in product(grid.seeds, grid.data, grid.settings, grid.methods):
        train, _ = train_test_rows(available_tables()[data].n_examples, grid.split, seed)
        is_ours = entry.method not in BASELINES
        spec = TrialSpec(
            kind="classifiers",
            data=data,
            data_checksum=checksums[data],
            n_train=len(train),
            setting=setting.name,
            process=setting.process,
            setting_params=setting.params,
            method=entry.method,
            method_params=entry.params,
            model="",
            seed=seed,
            recipe={},
            split=grid.split,
            method_revision=_classifier_revision(entry.method),
            labels_revision=processes.REVISION,
            model_revision=models.registry.REVISION if is_ours else 1,
            training_revision=training.loop.REVISION if is_ours else 1,
        )
        yield spec, entry.label


def _classifier_revision(name: str) -> int:
    if name == AUTO:
        return StackedMethod.facts.revision
    return BASELINES_REVISION if name in BASELINES else available_methods()[name].revision


def _revision_of(name: str, kind: Kind) -> int:
    return PRIOR_ESTIMATORS[name].revision if kind == "priors" else available_methods()[name].revision


def _label(label: str, priors: PriorSource, several: bool) -> str:
    if not several:
        return label
    return f"{label}, {sigma_text(priors.perturb) if isinstance(priors, Perturbed) else f'{priors} priors'}"


def sigma_text(sigma: float) -> str:
    """Return how wrong the priors of a row are, as its label ends.

    Examples
    --------
    >>> sigma_text(0.2)
    'σ = 0.2'
    """
    return f"σ = {sigma:g}"
