"""The loop, recipes, checkpoints and callbacks."""

from scarce.training.callbacks import Callback, EarlyStopping, Measure, ProgressBar
from scarce.training.inference import map_logits, mean_loss, predict_logits
from scarce.training.loop import train
from scarce.training.recipe import ANNEALED, PAPER, RECIPES, Recipe
from scarce.training.state import History, Run

__all__ = [
    "ANNEALED",
    "PAPER",
    "RECIPES",
    "Callback",
    "EarlyStopping",
    "History",
    "Measure",
    "ProgressBar",
    "Recipe",
    "Run",
    "map_logits",
    "mean_loss",
    "predict_logits",
    "train",
]
