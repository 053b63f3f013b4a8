"""The regret of the automatic default: how far it is from the best row of every column."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scarce.bench.results.results import ExperimentResults
from scarce.bench.spec.classifier_grid import AUTO

__all__ = ["Regret", "regrets"]


@dataclass(frozen=True)
class Regret:
    """The best mean accuracy of a column and that of the default, as fractions.

    Attributes
    ----------
    data, setting : str
        The column.
    best : str
        The row with the best mean; among ties the default, or else the first.
    best_accuracy, accuracy : float
        Its mean accuracy, and that of the default.
    is_biased : bool
        Whether the process of the labels is called biased.
    """

    data: str
    setting: str
    best: str
    best_accuracy: float
    accuracy: float
    is_biased: bool

    @property
    def value(self) -> float:
        """Best mean − mean of the default; 0 where the default is the best."""
        return self.best_accuracy - self.accuracy


def regrets(results: ExperimentResults) -> list[Regret]:
    """Return the regret of the default in every column where it has a result.

    The means are over the seeds for which the default has a result. Rows that lack one of these seeds do not count.

    Examples
    --------
    >>> regrets(ExperimentResults("mine", "Mine", "own", {}))
    []
    """
    accuracies: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    defaults: dict[tuple[str, str], str] = {}
    biased = set()
    for index, record in results.done.items():
        if record.accuracy is None:
            continue
        column = index.data, index.setting
        accuracies.setdefault(column, {}).setdefault(index.label, {})[index.seed] = record.accuracy
        if record.spec.method == AUTO and not record.spec.method_params:
            defaults[column] = index.label
        if (record.spec.process or "").startswith("biased"):
            biased.add(column)
    found = []
    for column, rows in accuracies.items():
        if column not in defaults:
            continue
        label = defaults[column]
        seeds = list(rows[label])
        means = {
            row: _mean(values, seeds) for row, values in rows.items() if all(seed in values for seed in seeds)
        }
        best = max(means, key=lambda row: (means[row], row == label))
        found.append(Regret(*column, best, means[best], means[label], column in biased))
    return found


def _mean(values: dict[int, float], seeds: Sequence[int]) -> float:
    return fmean(values[seed] for seed in seeds)
