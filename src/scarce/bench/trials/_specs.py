"""From the grids of an experiment to the specs and labels of its trials."""

from collections.abc import Iterator
from itertools import product

from scarce import models, training
from scarce.bench.baselines import BASELINES, BASELINES_REVISION
from scarce.bench.spec._classifier_grid import AUTO, ClassifierGrid
from scarce.bench.spec._embedded_tables import experiment_tables
from scarce.bench.spec._grid import Grid
from scarce.bench.spec._splits import train_test_rows
from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.trial import Kind, Perturbed, PriorSource, TrialSpec
from scarce.datasets.registry import facts_of
from scarce.estimators.auto._stacked_method import StackedMethod
from scarce.methods import available_methods
from scarce.priors import PRIOR_ESTIMATORS
from scarce.simulate import registry as processes


def trial_specs(experiment: Experiment) -> Iterator[tuple[TrialSpec, str]]:
    """Yield the spec of every trial, without the checksum of its data, and the label of its row in the tables.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> spec, label = next(trial_specs(load_experiment("quick-digits")))
    >>> spec.data, spec.setting, label
    ('digits', 'uniform', 'nn')
    """
    sizes = {n for grid in experiment.grids if isinstance(grid, ClassifierGrid) for n in grid.n_train}
    for grid in experiment.grids:
        if isinstance(grid, ClassifierGrid):
            yield from _classifier_specs(grid, with_size=len(sizes) > 1)
        else:
            yield from _network_specs(grid, experiment.kind)


def _network_specs(grid: Grid, kind: Kind) -> Iterator[tuple[TrialSpec, str]]:
    recipe = grid.make_recipe().settings()
    del recipe["seed"]
    axes = product(grid.seeds, grid.data, grid.settings, grid.models, grid.methods, grid.priors)
    for seed, data, setting, model, entry, priors in axes:
        needs_transition = kind == "accuracy" and available_methods()[entry.method].needs_transition
        spec = TrialSpec(
            kind=kind,
            data=data,
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


def _classifier_specs(grid: ClassifierGrid, *, with_size: bool) -> Iterator[tuple[TrialSpec, str]]:
    axes = product(grid.seeds, grid.data, grid.settings, grid.n_train, grid.methods)
    for seed, data, setting, size, entry in axes:
        if grid.split == "standard":
            n_train = size or facts_of(data).n_train
        else:
            n_train = len(train_test_rows(experiment_tables()[data].n_examples, grid.split, seed)[0])
        is_baseline = entry.method in BASELINES
        spec = TrialSpec(
            kind="classifiers",
            data=data,
            n_train=n_train,
            setting=f"{setting.name}, {size_text(n_train)}" if with_size else setting.name,
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
    """Return the suffix of the label of a row with perturbed priors.

    Examples
    --------
    >>> sigma_text(0.2)
    'σ = 0.2'
    """
    return f"σ = {sigma:g}"


def size_text(n_train: int) -> str:
    """Return the suffix of the setting of a trial in an experiment with several numbers of training images.

    Examples
    --------
    >>> size_text(3000)
    'n = 3,000'
    """
    return f"n = {n_train:,}"
