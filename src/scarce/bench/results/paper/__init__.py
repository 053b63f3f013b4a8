"""The numbers in the tables of the paper."""

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

__all__ = ["PaperCell", "paper_accuracies", "paper_priors"]


@dataclass(frozen=True)
class PaperCell:
    """One number of the paper: mean and standard deviation of the test accuracy over five runs, in per cent."""

    mean: float
    std: float
    bold: bool
    """Best in its column, or not significantly worse by the paper's t-test."""


def paper_accuracies() -> dict[tuple[str, str, str, str], PaperCell]:
    """Return the cells of Tables 2 to 5 and of the CIFAR-10 table, by data, setting, model and method.

    Examples
    --------
    >>> paper_accuracies()["mnist", "uniform", "mlp", "scarce"]
    PaperCell(mean=91.27, std=0.2, bold=True)
    """
    return {
        (row["data"], row["setting"], row["model"], row["method"]): PaperCell(
            float(row["mean"]), float(row["std"]), row["bold"] == "1"
        )
        for row in _rows("accuracies.csv")
    }


def paper_priors() -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return means and standard deviations of the priors that the paper estimated, by data.

    Examples
    --------
    >>> mean, std = paper_priors()["mnist"]
    >>> float(mean.min()), float(mean.max())
    (0.087, 0.119)
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for row in _rows("priors.csv"):
        found.setdefault(row["data"], []).append((float(row["mean"]), float(row["std"])))
    return {data: (np.array(pairs)[:, 0], np.array(pairs)[:, 1]) for data, pairs in found.items()}


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
