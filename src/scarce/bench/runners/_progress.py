"""Progress of a run: a live bar in a terminal, elsewhere a line per trial."""

import time
from types import TracebackType

from scarce._console import make_progress
from scarce.bench.runners.local import Outcome
from scarce.bench.runners.status import format_duration


class TrialProgress:
    """Count and print outcomes.

    Parameters
    ----------
    n_left : int
        The number of trials to run.
    n_workers : int
        The number of trials that run at a time.
    seconds_left : float, optional
        The estimated time of all trials one after the other.
    """

    def __init__(self, n_left: int, n_workers: int, seconds_left: float | None = None) -> None:
        self.n_left, self.total, self.n_workers = n_left, n_left, n_workers
        self.n_failed, self.unfinished = 0, list[Outcome]()
        self.start_time, self.seconds_left = time.monotonic(), seconds_left
        self.bar = make_progress(eta=False)

    def __enter__(self) -> "TrialProgress":
        self.bar.start()
        self.task = self.bar.add_task(self.summary(), total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def update(self, outcome: Outcome) -> None:
        """Count a trial that has ended, and print its outcome."""
        self.n_left -= 1
        self.n_failed += outcome.status == "failed"
        if outcome.status == "unfinished":
            self.unfinished.append(outcome)
        if outcome.error is not None:
            line = f"{outcome.status}: {outcome.trial}: {outcome.error}"
        else:
            result = "" if outcome.accuracy is None else f" {100 * outcome.accuracy:.2f} %"
            line = f"done: {outcome.trial}:{result} in {format_duration(outcome.seconds)}"
        if self.bar.disable:
            print(f"{line} ({self.summary()})", flush=True)
            return
        if outcome.error is not None:
            self.bar.console.print(line, markup=False, highlight=False)
        self.bar.update(self.task, completed=self.total - self.n_left, description=self.summary())

    def summary(self) -> str:
        """Return the counts and the remaining time.

        Examples
        --------
        >>> TrialProgress(10, n_workers=2, seconds_left=600.0).summary()
        '0 done, 2 running, 8 left, 0 failed, about 5 min'
        """
        n_ended = self.total - self.n_left
        running = min(self.n_workers, self.n_left)
        done = n_ended - self.n_failed - len(self.unfinished)
        counts = f"{done} done, {running} running, {self.n_left - running} left, {self.n_failed} failed"
        counts += f", {len(self.unfinished)} unfinished" if self.unfinished else ""
        seconds = self._seconds_left(n_ended)
        return counts if seconds is None or not self.n_left else f"{counts}, about {format_duration(seconds)}"

    def _seconds_left(self, n_ended: int) -> float | None:
        if n_ended:
            return (time.monotonic() - self.start_time) / n_ended * self.n_left
        return (
            None if self.seconds_left is None else self.seconds_left / min(self.n_workers, max(1, self.total))
        )
