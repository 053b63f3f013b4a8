"""Callbacks: metrics of every epoch, early stopping, and a progress bar."""

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

_NO_BEST: dict[str, Any] = {"value": float("-inf"), "epoch": 0, "stage": 0, "weights": {}}


class Callback:
    """Base class of callbacks of a training run; override the hooks you need.

    See Also
    --------
    EpochMetric, EarlyStopping, ProgressBar : The built-in callbacks.
    train : Takes a list of callbacks.

    Examples
    --------
    >>> class StopAtZeroLoss(Callback):
    ...     def on_epoch_end(self, state, record):
    ...         state.stop = record["loss"] < 1e-6
    """

    def on_train_begin(self, state: "TrainingState") -> None:
        """Called before the first epoch, or before the next one if the run resumes."""

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Called after every epoch; may add numbers to `record`, or set ``state.stop``."""

    def on_train_end(self, state: "TrainingState") -> None:
        """Called after the last epoch, and also after an interruption or an error."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state that a checkpoint must hold so that the run can resume."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""


class EpochMetric(Callback):
    """Compute a metric after every epoch and record it in the history.

    Parameters
    ----------
    name : str
        The name of the metric in the history.
    function : callable
        Maps the `TrainingState` to a number.

    See Also
    --------
    EarlyStopping : Stop when such a metric no longer improves.

    Examples
    --------
    >>> bias = EpochMetric("bias", lambda state: state.model.bias.abs().max().item())
    """

    def __init__(self, name: str, function: Callable[["TrainingState"], float]) -> None:
        self.name, self.function = name, function

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Record the metric."""
        record[self.name] = float(self.function(state))


class EarlyStopping(Callback):
    """Stop when a metric has not improved for `patience` epochs, and restore the weights of the best epoch.

    If the method trains in stages, only the stage ends, with the weights of its best epoch. Values are compared only within a
    stage.

    Parameters
    ----------
    monitor : str
        The name of the metric in the history; higher is better.
    patience : int
        The number of epochs without improvement after which to stop.

    See Also
    --------
    EpochMetric : Record a metric to monitor.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from scarce.labels import ComplementaryLabels
    >>> from scarce.training import Recipe, train
    >>> X, labels = np.eye(3, dtype=np.float32), ComplementaryLabels.from_single([1, 2, 0], classes=3)
    >>> metric = EpochMetric("constant", lambda state: 0.5)
    >>> callbacks = [metric, EarlyStopping("constant", patience=2)]
    >>> history = train(torch.nn.Linear(3, 3), "cc", X, labels, Recipe(epochs=50), callbacks=callbacks)
    >>> len(history.records)
    3
    """

    def __init__(self, monitor: str, patience: int) -> None:
        self.monitor, self.patience = monitor, check_integer("patience", patience, 1)
        self.best = dict(_NO_BEST)

    def on_train_begin(self, state: "TrainingState") -> None:
        """Reset the best value, unless the run resumes from a checkpoint."""
        if state.epoch == 0:
            self.best = dict(_NO_BEST)

    def on_epoch_end(self, state: "TrainingState", record: dict[str, Any]) -> None:
        """Keep the weights if they are the best of the stage so far; end it after `patience` epochs without improvement."""
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
        """Restore the best weights if the run ended in the middle of a stage."""
        if state.epoch < sum(state.stages):
            self._restore_best(state)

    def state_dict(self) -> dict[str, Any]:
        """Return the best value with its epoch, stage and weights."""
        return self.best

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.best = state

    def _restore_best(self, state: "TrainingState") -> None:
        if self.best["weights"] and self.best["stage"] == len(state.stages):
            state.load_weights(self.best["weights"])


class ProgressBar(Callback):
    """Show a progress bar with the epochs done and the latest values of the history.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; by default standard error.

    Examples
    --------
    >>> import io
    >>> from rich.console import Console
    >>> bar = ProgressBar(Console(file=io.StringIO()))
    >>> isinstance(bar, Callback)
    True
    """

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
        """Advance the bar."""
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
