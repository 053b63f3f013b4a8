"""Progress of several runs, one bar each."""

from rich.progress import MofNCompleteColumn, Progress

from scarce._console import make_progress
from scarce.training import Callback, TrainingState

__all__ = ["EpochBar", "epoch_bars"]


def epoch_bars() -> Progress:
    """Return an empty set of bars on standard error, to be opened with ``with``."""
    return make_progress(MofNCompleteColumn(), show=True)


class EpochBar(Callback):
    """Adds a bar of that title when its run starts, and moves it on after every epoch."""

    def __init__(self, bars: Progress, title: str) -> None:
        self.bars, self.title = bars, title

    def on_train_begin(self, state: TrainingState) -> None:
        """Add the bar."""
        self._task = self.bars.add_task(self.title, total=state.recipe.epochs, completed=state.epoch)

    def on_epoch_end(self, state: TrainingState, record: dict[str, float]) -> None:
        """Move it on."""
        self.bars.update(self._task, completed=state.epoch)
