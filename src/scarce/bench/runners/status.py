"""The status of an experiment: which trials are done, and the estimated time of the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.plan import AXES, Trial
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store


@dataclass(frozen=True)
class Status:
    """The trials of an experiment by their state.

    Attributes
    ----------
    done, failed : list of TrialRecord
        The records of finished and failed trials.
    running, pending : list of Trial
        The trials without a record: those that a process is running, and the others.

    See Also
    --------
    get_status : Return the status of the trials of a plan.

    Examples
    --------
    >>> Status([], [], [], []).to_run()
    set()
    """

    done: list[TrialRecord]
    failed: list[TrialRecord]
    running: list[Trial]
    pending: list[Trial]

    def to_run(self, *, retry_failed: bool = False) -> set[str]:
        """Return the keys of the trials without a record; with `retry_failed`, also of failed trials."""
        keys = {trial.key for trial in (*self.running, *self.pending)}
        return keys | {record.key for record in self.failed} if retry_failed else keys

    def seconds_left(self) -> float | None:
        """Return the estimated total seconds of the trials without a record; None if no trial is done."""
        if not self.done:
            return None
        return sum(_mean_seconds(self.done, trial) for trial in (*self.running, *self.pending))


def get_status(
    trials: Iterable[Trial], store: Store | PackedStore, records: Iterable[TrialRecord] | None = None
) -> Status:
    """Return the trials by their state in a store.

    Parameters
    ----------
    trials : Plan or iterable of Trial
        From a `Plan` with data: records are found by the keys of the trials.
    store : Store or PackedStore
        The store with the records, and the locks of running trials.
    records : iterable of TrialRecord, optional
        The records of the store, if they have been read; by default the records of the trials are read.

    Returns
    -------
    Status
        The trials that are done, failed, running and pending.

    See Also
    --------
    run_local : Run the trials that are not done.

    Examples
    --------
    >>> from pathlib import Path
    >>> from scarce.bench import Plan, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits"))
    >>> len(get_status(plan, Store(Path("nowhere"))).pending)
    24
    """
    status = Status([], [], [], [])
    by_key = None if records is None else {record.key: record for record in records}
    for trial in trials:
        record = store.record(trial.key) if by_key is None else by_key.get(trial.key)
        if record is not None:
            (status.done if record.status == "done" else status.failed).append(record)
        else:
            (status.running if store.is_claimed(trial.key) else status.pending).append(trial)
    return status


def axis_rows(trials: Iterable[Trial]) -> list[tuple[str, str, str]]:
    """Return a row per axis: its name, the number of values, and the values.

    Examples
    --------
    >>> from scarce.bench import Plan, load_experiment
    >>> axis_rows(Plan.from_experiment(load_experiment("quick-digits")))[1]
    ('setting', '2', 'uniform, scar-a')
    """
    axes = [trial.axes for trial in trials]
    values = {axis: list(dict.fromkeys(names[axis] for names in axes)) for axis in AXES}
    return [(axis, str(len(names)), ", ".join(names)) for axis, names in values.items() if names != [""]]


def format_duration(seconds: float) -> str:
    """Return a duration as text in its two largest units.

    Examples
    --------
    >>> format_duration(3.21), format_duration(80), format_duration(8000), format_duration(200_000)
    ('3.2 s', '1 min 20 s', '2 h 13 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, part, smaller in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s" if whole >= 10 else f"{seconds:.1f} s"


def _mean_seconds(done: Sequence[TrialRecord], trial: Trial) -> float:
    """Return the mean seconds of the done trials with the same data and network, or of all done trials if there are none."""
    key = trial.spec.data, trial.spec.model
    similar = [record.seconds for record in done if (record.spec.data, record.spec.model) == key]
    seconds = similar or [record.seconds for record in done]
    return sum(seconds) / len(seconds)
