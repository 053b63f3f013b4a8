"""Callbacks: metrics of every epoch, early stopping, a progress bar."""

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, TextColumn

from scarce._console import make_progress
from scarce._validation import check_integer
from scarce.errors import MethodError

if TYPE_CHECKING:
    from scarce.training.state import TrainingState

__all__ = ["Callback", "EarlyStopping", "EpochMetric", "ProgressBar"]


_NO_BEST: dict[str, Any] = {"value": float("-inf"), "epoch": 0, "stage": 0, "weights": {}}


class Callback:
    """Acts around the epochs of a run; override what you need."""

    def on_train_begin(self, state: "TrainingState") -> None:
        """Act before the first epoch."""

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Act after an epoch; may add numbers to its record, or set ``state.stop``."""

    def on_train_end(self, state: "TrainingState") -> None:
        """Act when the run is over, also when it was interrupted."""

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run must know."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""


class EpochMetric(Callback):
    """Record a number of the current model after every epoch.

    Parameters
    ----------
    name : str
        The name in the history.
    function : callable
        From the run to a number.
    """

    def __init__(self, name: str, function: Callable[["TrainingState"], float]) -> None:
        self.name, self.function = name, function

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Record the number."""
        record[self.name] = float(self.function(state))


class EarlyStopping(Callback):
    """Stop when a recorded number has not risen for `patience` epochs, and restore the weights of its best epoch.

    With a method that trains in stages it ends the stage, and the next begins with the weights of the best epoch.

    Parameters
    ----------
    monitor : str
        Which number of the history; higher is better. Only numbers of the same stage are compared.
    patience : int
        How many epochs to wait for a better one.
    """

    def __init__(self, monitor: str, patience: int) -> None:
        self.monitor, self.patience = monitor, check_integer("patience", patience, 1)
        self.best = dict(_NO_BEST)

    def on_train_begin(self, state: "TrainingState") -> None:
        """Forget an earlier run, unless this one resumes from a checkpoint."""
        if state.epoch == 0:
            self.best = dict(_NO_BEST)

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Compare, and keep the weights if they are the best so far of the stage."""
        if self.monitor not in record:
            raise MethodError(
                f"early stopping looks for {self.monitor!r}, but an epoch records {', '.join(record)}; "
                f"put EpochMetric({self.monitor!r}, ...) before it."
            )
        stage = len(state.stages)
        if stage != self.best["stage"]:
            self.best = _NO_BEST | {"stage": stage, "epoch": sum(state.stages[:-1])}
        if record[self.monitor] > self.best["value"]:
            self.best |= {
                "value": record[self.monitor],
                "epoch": state.epoch,
                "weights": deepcopy(state.weights()),
            }
        if state.epoch - self.best["epoch"] >= self.patience:
            state.end_stage()
        if state.epoch == sum(state.stages):
            self._restore_best(state)

    def on_train_end(self, state: "TrainingState") -> None:
        """Restore the best weights, if the run has ended in the middle of a stage."""
        if state.epoch < sum(state.stages):
            self._restore_best(state)

    def state_dict(self) -> dict[str, Any]:
        """Return the best so far."""
        return self.best

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the best so far."""
        self.best = state

    def _restore_best(self, state: "TrainingState") -> None:
        if self.best["weights"] and self.best["stage"] == len(state.stages):
            state.load_weights(self.best["weights"])


class ProgressBar(Callback):
    """A bar that counts epochs and shows the latest numbers."""

    def __init__(self, console: Console | None = None) -> None:
        self._bar = make_progress(
            MofNCompleteColumn(), TextColumn("{task.fields[numbers]}"), show=True, console=console
        )

    def on_train_begin(self, state: "TrainingState") -> None:
        """Show the bar."""
        self._bar.start()
        self._task = self._bar.add_task(
            state.method.facts.name, total=sum(state.stages), completed=state.epoch, numbers=""
        )

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Advance it."""
        shown = {
            name: value
            for name, value in record.items()
            if name not in ("epoch", "seconds", "learning_rate") and isinstance(value, float)
        }
        numbers = "  ".join(f"{name} {value:.3f}" for name, value in shown.items())
        self._bar.update(self._task, total=sum(state.stages), completed=state.epoch, numbers=numbers)

    def on_train_end(self, state: "TrainingState") -> None:
        """Stop the bar."""
        self._bar.stop()
