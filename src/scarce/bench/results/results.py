"""The results of an experiment: the planned trials and their records, the input of every report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.trial import Kind, Perturbed, ProtocolName, TrialSpec
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.plan import plan, planned_records, select
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.datasets.registry import facts_of

__all__ = ["ExperimentResults", "TrialIndex", "collect_results", "finite_values"]


class TrialIndex(NamedTuple):
    """The position of a trial in the tables: a column (data, setting, model), a row (label), and the seed."""

    data: str
    setting: str
    model: str
    label: str
    seed: int

    @property
    def column(self) -> tuple[str, str, str]:
        """Data, setting and model."""
        return self.data, self.setting, self.model


@dataclass(frozen=True)
class ExperimentResults:
    """The planned trials, in the order in which reports show them, and the record of each trial that has one.

    Attributes
    ----------
    name, title : str
        Of the experiment.
    protocol : {"paper", "shortened", "own"}
        Whether the trials follow the paper.
    kind : {"accuracy", "priors", "classifiers"}
        Whether networks were trained, class priors estimated, or classifiers compared.
    planned : dict
        The method whose number in the paper each trial is compared with (None if there is none), by the index of the trial.
    records : dict
        The record of each trial that has one, by the index of the trial.
    outdated : frozenset
        The indices of records that were made by an earlier version of their method or data.
    description : str
        The description of the experiment.

    Examples
    --------
    >>> index = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> results = ExperimentResults("mine", "Mine", "paper", {index: "scarce", index._replace(seed=1): "scarce"}, {})
    >>> results.labels, results.missing == tuple(results.planned)
    (('SCARCE',), True)
    """

    name: str
    title: str
    protocol: ProtocolName
    planned: dict[TrialIndex, str | None]
    records: dict[TrialIndex, TrialRecord] = field(default_factory=dict)
    kind: Kind = "accuracy"
    outdated: frozenset[TrialIndex] = frozenset()
    description: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The rows of the tables."""
        return self.axis(lambda index: index.label)

    @cached_property
    def done(self) -> dict[TrialIndex, TrialRecord]:
        """The trials with a result."""
        return {index: record for index, record in self._in_order() if record.status == "done"}

    @cached_property
    def failed(self) -> dict[TrialIndex, TrialRecord]:
        """The trials that ended in an error."""
        return {index: record for index, record in self._in_order() if record.status == "failed"}

    @cached_property
    def missing(self) -> tuple[TrialIndex, ...]:
        """The trials that have not been run."""
        return tuple(index for index in self.planned if index not in self.records)

    def axis(self, key: Callable[[TrialIndex], str]) -> tuple[str, ...]:
        """Return the different values of an axis, in the order of the plan."""
        return tuple(dict.fromkeys(key(index) for index in self.planned))

    def _in_order(self) -> list[tuple[TrialIndex, TrialRecord]]:
        return [(index, self.records[index]) for index in self.planned if index in self.records]


def collect_results(
    experiment: Experiment, store: Store | PackedStore, only: Mapping[str, Iterable[str]] | None = None
) -> ExperimentResults:
    """Return the planned trials of an experiment together with their records in a store.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    only : mapping, optional
        Which trials to include, as names by axis; see `scarce.bench.trials.plan.select`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> results = collect_results(load_experiment("quick-digits"), Store(Path("nowhere")))
    >>> results.labels, len(results.missing)
    (('nn', 'ga', 'l-w', 'scarce'), 24)
    """
    trials = select(plan(experiment), only or {})
    found = {record.spec.cell: record for record in planned_records(trials, store.records())}
    # The data need not be available; of several versions of them, the one of the latest trial counts as current.
    latest = sorted(found.values(), key=lambda record: record.finished)
    checksums = {record.spec.data: record.spec.data_checksum for record in latest}
    planned: dict[TrialIndex, str | None] = {}
    records = {}
    outdated = set()
    for trial in trials:
        axes = trial.axes
        index = TrialIndex(axes["data"], axes["setting"], axes["model"], trial.label, int(axes["seed"]))
        planned[index] = _method_in_paper(trial.spec)
        record = found.get(trial.spec.cell)
        if record is not None:
            records[index] = record
            checksum = checksums[record.spec.data]
            if not record.spec.is_current(trial.spec.model_copy(update={"data_checksum": checksum})):
                outdated.add(index)
    return ExperimentResults(
        experiment.name,
        experiment.title,
        experiment.protocol,
        planned,
        records,
        experiment.kind,
        frozenset(outdated),
        experiment.description,
    )


def _method_in_paper(spec: TrialSpec) -> str | None:
    """Return the method if the paper has a comparable number: no variant, all data, true priors, no early stopping."""
    if spec.kind == "classifiers":
        return None
    is_thinned = spec.imbalance is not None or spec.n_train != facts_of(spec.data).n_train
    if is_thinned or spec.early_stopping or spec.method_params:
        return None
    if spec.kind == "priors":
        is_paper_setting = spec.process == "scar" and spec.setting_params == {"rates": 0.5}
        return "best-bin" if is_paper_setting and spec.method == "best-bin" else None
    is_variant = bool(spec.setting_params) or spec.process not in (spec.setting, None)
    has_true_priors = spec.priors in ("true", Perturbed(perturb=0.0))
    return spec.method if has_true_priors and not is_variant else None


def finite_values(values: Sequence[float | None]) -> list[float]:
    """Return the finite values of a stored curve; a record holds None in place of the others.

    Examples
    --------
    >>> finite_values([0.5, None, 0.75])
    [0.5, 0.75]
    """
    return [value for value in values if value is not None]
