"""The plan of an experiment: its trials, the selection of some of them, and their records."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from scarce import models, training
from scarce._validation import check_option
from scarce.bench.baselines import BASELINES, BASELINES_REVISION
from scarce.bench.spec.classifier_grid import AUTO, ClassifierGrid
from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.grid import Grid
from scarce.bench.spec.splits import train_test_rows
from scarce.bench.spec.trial import Kind, Perturbed, PriorSource, ProtocolName, TrialSpec
from scarce.bench.trials.data import data_checksum, how_to_get
from scarce.bench.trials.record import TrialRecord
from scarce.datasets import available_tables
from scarce.datasets.registry import facts_of
from scarce.errors import MethodError
from scarce.estimators.auto.stacked_method import StackedMethod
from scarce.methods import available_methods
from scarce.priors import PRIOR_ESTIMATORS
from scarce.simulate import registry as processes

__all__ = [
    "AXES",
    "Trial",
    "parse_selection",
    "plan",
    "plan_selected",
    "planned_records",
    "select",
    "sigma_text",
]

AXES = ("data", "setting", "method", "model", "seed")


@dataclass(frozen=True)
class Trial:
    """One run of an experiment: its specification, its label in tables, and the experiment it belongs to.

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
        """The position of the trial on every axis."""
        return {axis: str(self.label if axis == "method" else getattr(self.spec, axis)) for axis in AXES}

    def __str__(self) -> str:
        *names, seed = self.axes.values()
        return f"{', '.join(filter(None, names))}, seed {seed}"


def plan(experiment: Experiment, checksum: Callable[[str], str | None] = lambda name: None) -> list[Trial]:
    """Return the trials of an experiment, sorted by seed.

    Parameters
    ----------
    experiment : Experiment
        From `scarce.bench.spec.experiment.load_experiment`.
    checksum : callable
        From the name of a data set to the checksum of its contents; None where it is not available, as by default.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"))
    >>> len(trials), str(trials[0])
    (24, 'digits, uniform, nn, mlp, seed 0')
    """
    trials = [
        Trial(spec, label, experiment.name, experiment.protocol)
        for grid in experiment.grids
        for checksums in [{name: checksum(name) for name in grid.data}]
        for spec, label in (
            _classifier_specs(grid, checksums)
            if isinstance(grid, ClassifierGrid)
            else _network_specs(grid, experiment.kind, checksums)
        )
    ]
    counts = Counter(tuple(trial.axes.values()) for trial in trials)
    duplicate = next((trial for trial in trials if counts[tuple(trial.axes.values())] > 1), None)
    if duplicate is not None:
        raise MethodError(
            f"two trials are called {duplicate}; give one of them another label or setting name."
        )
    by_key: dict[str, Trial] = {}
    for trial in trials:
        known = by_key.setdefault(trial.key, trial)
        if known is not trial:
            raise MethodError(
                f"{known} and {trial} are the same trial under two names; leave one out, or change its parameters."
            )
    return sorted(trials, key=lambda trial: trial.spec.seed)


def select(trials: Sequence[Trial], only: Mapping[str, Iterable[str]]) -> list[Trial]:
    """Return the trials that `only` names on every axis; a method goes by its label or its name.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> trials = plan(load_experiment("quick-digits"))
    >>> len(select(trials, {"method": ["scarce", "ga"], "setting": ["uniform"]}))
    6
    >>> select(trials, {"method": ["scarcy"]})
    Traceback (most recent call last):
    scarce.errors.MethodError: no trial has the method 'scarcy'; there are nn, ga, l-w, scarce.
    """
    for axis, names in only.items():
        check_option("axis", axis, AXES)
        wanted = set(names)
        available = list(dict.fromkeys(trial.axes[axis] for trial in trials))
        selected = [trial for trial in trials if wanted & _names(trial, axis)]
        for name in names:
            if not any(name in _names(trial, axis) for trial in trials):
                raise MethodError(f"no trial has the {axis} {name!r}; there are {', '.join(available)}.")
        trials = selected
    return list(trials)


def parse_selection(trials: Sequence[Trial], texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the names by axis, as `select` takes them, of texts such as ``method=scarce,ga``.

    Parameters
    ----------
    trials : sequence of Trial
        All trials, whose names may contain commas.
    texts : iterable of str
        Each an axis and the names on it.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> parse_selection(plan(load_experiment("quick-digits")), ["method=scarce,ga", "seed=0"])
    {'method': ['scarce', 'ga'], 'seed': ['0']}
    """
    only: dict[str, list[str]] = {}
    for text in texts:
        axis, separator, names = (part.strip() for part in text.partition("="))
        if not (separator and names.strip(", ")):
            raise MethodError(
                f"--only {text!r} is not understood; expected axis=name,..., such as method=scarce,ga."
            )
        check_option("axis", axis, AXES)
        is_one_name = any(names in _names(trial, axis) for trial in trials)
        separate = [names] if is_one_name else [name.strip() for name in names.split(",") if name.strip()]
        only.setdefault(axis, []).extend(separate)
    return only


def plan_selected(
    experiment: Experiment, only: Iterable[str] = (), data_dir: Path | None = None, *, download: bool = True
) -> tuple[list[Trial], dict[str, str]]:
    """Return the selected trials with checksums of their data, and how to get data that are missing, by name.

    Parameters
    ----------
    experiment : Experiment
        From `scarce.bench.spec.experiment.load_experiment`.
    only : iterable of str
        See `parse_selection`.
    data_dir : Path, optional
        Where to look for data first.
    download : bool
        Download missing data; else their trials have no checksum.
    """
    trials = plan(experiment)
    selection = parse_selection(trials, only)
    names = dict.fromkeys(trial.spec.data for trial in select(trials, selection))
    missing: dict[str, str] = {}
    if not download:
        hints = {name: how_to_get(experiment.kind, name, data_dir) for name in names}
        missing = {name: hint for name, hint in hints.items() if hint is not None}
    folder = None if data_dir is None else str(data_dir.resolve())
    checksums = {
        name: data_checksum(experiment.kind, name, folder, download) for name in names if name not in missing
    }
    return select(plan(experiment, checksums.get), selection), missing


def planned_records(trials: Iterable[Trial], records: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Return the record of each planned trial: the latest of the current revision, or else the latest.

    They are matched without checksums, so the data need not be available.

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
    method = {trial.spec.method} if axis == "method" else set()
    return {trial.axes[axis], *method}


def _network_specs(
    grid: Grid, kind: Kind, checksums: dict[str, str | None]
) -> Iterator[tuple[TrialSpec, str]]:
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
            method_revision=_method_revision(entry.method, kind),
            labels_revision=processes.REVISION,
            model_revision=models.registry.REVISION,
            training_revision=training.loop.REVISION,
        )
        yield spec, _label(entry.label, priors, with_priors=len(grid.priors) > 1)


def _classifier_specs(
    grid: ClassifierGrid, checksums: dict[str, str | None]
) -> Iterator[tuple[TrialSpec, str]]:
    for seed, data, setting, entry in product(grid.seeds, grid.data, grid.settings, grid.methods):
        train, _ = train_test_rows(available_tables()[data].n_examples, grid.split, seed)
        is_baseline = entry.method in BASELINES
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
            model_revision=1 if is_baseline else models.registry.REVISION,
            training_revision=1 if is_baseline else training.loop.REVISION,
        )
        yield spec, entry.label


def _classifier_revision(name: str) -> int:
    if name == AUTO:
        return StackedMethod.facts.revision
    return BASELINES_REVISION if name in BASELINES else available_methods()[name].revision


def _method_revision(name: str, kind: Kind) -> int:
    return PRIOR_ESTIMATORS[name].revision if kind == "priors" else available_methods()[name].revision


def _label(label: str, priors: PriorSource, *, with_priors: bool) -> str:
    if not with_priors:
        return label
    return f"{label}, {sigma_text(priors.perturb) if isinstance(priors, Perturbed) else f'{priors} priors'}"


def sigma_text(sigma: float) -> str:
    """Return the end of the label of a row with perturbed priors.

    Examples
    --------
    >>> sigma_text(0.2)
    'σ = 0.2'
    """
    return f"σ = {sigma:g}"
