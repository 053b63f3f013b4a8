"""How far an experiment is, and how long the rest may take."""

from collections.abc import Sequence
from dataclasses import dataclass

from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.plan import AXES, Trial
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

__all__ = ["Status", "axis_rows", "format_duration", "get_status"]


@dataclass(frozen=True)
class Status:
    """The trials of an experiment by their state.

    Attributes
    ----------
    done, failed : list of TrialRecord
        Those with a record.
    running, left : list of Trial
        Those that a process is at, and the rest.
    """

    done: list[TrialRecord]
    failed: list[TrialRecord]
    running: list[Trial]
    left: list[Trial]

    def to_run(self, *, retry_failed: bool = False) -> set[str]:
        """Return the keys of the trials without a record; with `retry_failed`, also of those that failed."""
        keys = {trial.key for trial in (*self.running, *self.left)}
        return keys | {record.key for record in self.failed} if retry_failed else keys

    def seconds_left(self) -> float | None:
        """Return how long the trials without a record take one after the other, as the done ones did; None if none is."""
        if not self.done:
            return None
        return sum(_mean(self.done, trial) for trial in (*self.running, *self.left))


def get_status(trials: Sequence[Trial], store: Store | PackedStore) -> Status:
    """Sort trials by their state in a store."""
    status = Status([], [], [], [])
    for trial in trials:
        record = store.record(trial.key)
        if record is not None:
            (status.done if record.status == "done" else status.failed).append(record)
        else:
            (status.running if store.is_claimed(trial.key) else status.left).append(trial)
    return status


def axis_rows(trials: Sequence[Trial]) -> list[tuple[str, str, str]]:
    """Return a row per axis: its name, how many places it has, and their names.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> from scarce.bench.trials.plan import plan
    >>> axis_rows(plan(load_experiment("quick-digits"), lambda name: None))[1]
    ('setting', '2', 'uniform, scar-a')
    """
    places = {axis: list(dict.fromkeys(trial.axes[axis] for trial in trials)) for axis in AXES}
    return [(axis, str(len(names)), ", ".join(names)) for axis, names in places.items() if names != [""]]


def format_duration(seconds: float) -> str:
    """Return a time as people say it.

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


def _mean(done: Sequence[TrialRecord], trial: Trial) -> float:
    """Mean seconds of the done trials most like this one: of the same data and network, or else of all."""
    place = trial.spec.data, trial.spec.model
    alike = [record.seconds for record in done if (record.spec.data, record.spec.model) == place]
    seconds = alike or [record.seconds for record in done]
    return sum(seconds) / len(seconds)
