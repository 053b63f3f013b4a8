"""Progress bars, one per run."""

from rich.progress import MofNCompleteColumn, Progress

from scarce._console import make_progress
from scarce.training import Callback, TrainingState

__all__ = ["EpochBar", "epoch_bars"]


def epoch_bars() -> Progress:
    """Return progress bars on standard error, to be used with ``with``."""
    return make_progress(MofNCompleteColumn(), show=True)


class EpochBar(Callback):
    """Add a bar with a title when a run starts, and advance it after every epoch."""

    def __init__(self, bars: Progress, title: str) -> None:
        self.bars, self.title = bars, title

    def on_train_begin(self, state: TrainingState) -> None:
        """Add the bar."""
        self._task = self.bars.add_task(self.title, total=state.recipe.epochs, completed=state.epoch)

    def on_epoch_end(self, state: TrainingState, record: dict[str, float]) -> None:
        """Advance the bar."""
        self.bars.update(self._task, completed=state.epoch)
