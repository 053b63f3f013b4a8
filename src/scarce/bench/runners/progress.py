"""What people see while trials run: a live line in a terminal, elsewhere a line per trial."""

import time
from types import TracebackType

from scarce._console import make_progress
from scarce.bench.runners.local import Outcome
from scarce.bench.runners.status import format_duration

__all__ = ["TrialProgress"]


class TrialProgress:
    """Counts outcomes and tells of them.

    Parameters
    ----------
    n_left : int
        How many trials are to be run.
    at_once : int
        How many of them at a time.
    seconds_left : float, optional
        How long they take one after the other, if something is known of it.
    """

    def __init__(self, n_left: int, at_once: int, seconds_left: float | None = None) -> None:
        self.n_left, self.total, self.at_once, self.n_failed = n_left, n_left, at_once, 0
        self.began, self.guess = time.monotonic(), seconds_left
        self.bar = make_progress(eta=False)

    def __enter__(self) -> "TrialProgress":
        self.bar.start()
        self.task = self.bar.add_task(self.summary(), total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def tell(self, outcome: Outcome) -> None:
        """Tell of a trial that has ended."""
        self.n_left -= 1
        self.n_failed += outcome.status == "failed"
        if outcome.status == "failed":
            line = f"failed: {outcome.trial}: {outcome.error}"
        else:
            result = "" if outcome.accuracy is None else f" {100 * outcome.accuracy:.2f} %"
            line = f"done: {outcome.trial}:{result} in {format_duration(outcome.seconds)}"
        if self.bar.disable:
            print(f"{line} ({self.summary()})", flush=True)
            return
        if outcome.status == "failed":
            self.bar.console.print(line, markup=False, highlight=False)
        self.bar.update(self.task, completed=self.total - self.n_left, description=self.summary())

    def summary(self) -> str:
        """Return the counts and the time that is left.

        Examples
        --------
        >>> TrialProgress(10, at_once=2, seconds_left=600.0).summary()
        '0 done, 2 running, 8 left, 0 failed, about 5 min'
        """
        n_ended = self.total - self.n_left
        running = min(self.at_once, self.n_left)
        counts = f"{n_ended - self.n_failed} done, {running} running, {self.n_left - running} left, {self.n_failed} failed"
        seconds = self._seconds_left(n_ended)
        return counts if seconds is None or not self.n_left else f"{counts}, about {format_duration(seconds)}"

    def _seconds_left(self, n_ended: int) -> float | None:
        if n_ended:
            return (time.monotonic() - self.began) / n_ended * self.n_left
        return None if self.guess is None else self.guess / min(self.at_once, max(1, self.total))
