"""An experiment as planned, and what has been found so far: all that a report is made of."""

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

__all__ = ["TrialIndex", "ExperimentResults", "finished", "read_study"]


class TrialIndex(NamedTuple):
    """The place of a trial in the tables: a column (data, setting, model), a row, and the seed."""

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
    """What was planned, in the order in which it is shown, and the record of each trial that has one.

    Attributes
    ----------
    name, title : str
        Of the experiment.
    protocol : {"paper", "shortened", "own"}
        Whether the trials follow the paper.
    kind : {"accuracy", "priors", "classifiers"}
        Whether networks were trained, class priors estimated, or classifiers compared.
    planned : dict
        Every trial, from its place to the method whose number in the paper it is compared with (None if to none).
    records : dict
        From the place of a trial to its record.
    outdated : frozenset
        The places of records that were made by an earlier version of their method or data.
    description : str
        What else the experiment says of itself.

    Examples
    --------
    >>> slot = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> study = ExperimentResults("mine", "Mine", "paper", {slot: "scarce", slot._replace(seed=1): "scarce"}, {})
    >>> study.labels, study.missing == tuple(study.planned)
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
        return self.axis(lambda slot: slot.label)

    @cached_property
    def done(self) -> dict[TrialIndex, TrialRecord]:
        """The trials with a result."""
        return {slot: record for slot, record in self._in_order() if record.status == "done"}

    @cached_property
    def failed(self) -> dict[TrialIndex, TrialRecord]:
        """The trials that ended in an error."""
        return {slot: record for slot, record in self._in_order() if record.status == "failed"}

    @cached_property
    def missing(self) -> tuple[TrialIndex, ...]:
        """The trials that have not been run."""
        return tuple(slot for slot in self.planned if slot not in self.records)

    def axis(self, read: Callable[[TrialIndex], str]) -> tuple[str, ...]:
        """Return the different values of an axis, in the order of the plan."""
        return tuple(dict.fromkeys(read(slot) for slot in self.planned))

    def _in_order(self) -> list[tuple[TrialIndex, TrialRecord]]:
        return [(slot, self.records[slot]) for slot in self.planned if slot in self.records]


def read_study(
    experiment: Experiment, store: Store | PackedStore, only: Mapping[str, Iterable[str]] | None = None
) -> ExperimentResults:
    """Return what an experiment plans and what its store holds of that.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    only : mapping, optional
        Names by axis, of the trials to be shown; see `scarce.bench.trials.plan.select`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> study = read_study(load_experiment("quick-digits"), Store(Path("nowhere")))
    >>> study.labels, len(study.missing)
    (('nn', 'ga', 'l-w', 'scarce'), 24)
    """
    trials = select(plan(experiment, lambda name: None), only or {})
    found = {record.spec.cell: record for record in planned_records(trials, store.records())}
    # The data need not be at hand; of several versions of it the present one is that of the latest trial.
    latest = sorted(found.values(), key=lambda record: record.finished)
    checksums = {record.spec.data: record.spec.data_checksum for record in latest}
    planned: dict[TrialIndex, str | None] = {}
    records = {}
    outdated = set()
    for trial in trials:
        axes = trial.axes
        slot = TrialIndex(axes["data"], axes["setting"], axes["model"], trial.label, int(axes["seed"]))
        planned[slot] = _method_in_paper(trial.spec)
        record = found.get(trial.spec.cell)
        if record is not None:
            records[slot] = record
            checksum = checksums[record.spec.data]
            if not record.spec.is_current(trial.spec.model_copy(update={"data_checksum": checksum})):
                outdated.add(slot)
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
    """Return the method if its number is comparable with the paper's: no variant, all data, true priors, no early stopping."""
    if spec.kind == "classifiers":
        return None
    is_thinned = spec.imbalance is not None or spec.n_train != facts_of(spec.data).n_train
    if is_thinned or spec.early_stopping or spec.method_params:
        return None
    if spec.kind == "priors":
        is_same = spec.process == "scar" and spec.setting_params == {"rates": 0.5}
        return "best-bin" if is_same and spec.method == "best-bin" else None
    is_own = bool(spec.setting_params) or spec.process not in (spec.setting, None)
    is_true = spec.priors in ("true", Perturbed(perturb=0.0))
    return spec.method if is_true and not is_own else None


def finished(values: Sequence[float | None]) -> list[float]:
    """Return the numbers of a stored curve; JSON holds null where one was not finite.

    Examples
    --------
    >>> finished([0.5, None, 0.75])
    [0.5, 0.75]
    """
    return [value for value in values if value is not None]
