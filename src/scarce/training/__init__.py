"""Training: the loop, recipes, checkpoints and callbacks."""

from scarce.training.callbacks import Callback, EarlyStopping, EpochMetric, ProgressBar
from scarce.training.inference import map_logits, mean_loss, predict_logits
from scarce.training.loop import train
from scarce.training.recipe import ANNEALED, FAST, PAPER, RECIPES, Recipe
from scarce.training.state import History, TrainingState

__all__ = [
    "ANNEALED",
    "FAST",
    "PAPER",
    "RECIPES",
    "Callback",
    "EarlyStopping",
    "History",
    "EpochMetric",
    "ProgressBar",
    "Recipe",
    "TrainingState",
    "map_logits",
    "mean_loss",
    "predict_logits",
    "train",
]
