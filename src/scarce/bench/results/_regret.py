"""The regret of the automatic default: how far it is from the best row of every column."""

from dataclasses import dataclass

from scarce.bench.results.results import ExperimentResults
from scarce.bench.spec._classifier_grid import AUTO


@dataclass(frozen=True)
class Regret:
    """The best mean accuracy of a column and that of the default, as fractions.

    Attributes
    ----------
    data, setting : str
        The column of the table.
    best : str
        The row with the best mean; among ties, the default if it is one of them, otherwise the first.
    best_accuracy, accuracy : float
        The mean accuracy of the best row and of the default.
    is_biased : bool
        Whether the labels come from a process whose name starts with biased.
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

    The means are over the seeds for which the default has a result. Rows without a result for one of these seeds are ignored, and
    so are columns that have no other row.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> regrets(collect(Plan.from_experiment(load_experiment("quick-digits")), []))
    []
    """
    found = []
    for (data, setting), column in results.done.groupby(["data", "setting"], sort=False):
        specs = [record.spec for record in column.record]
        is_default = [spec.method == AUTO and not spec.method_params for spec in specs]
        if not any(is_default) or column.label.nunique() == 1:
            continue
        label = column.label[is_default].iloc[-1]
        accuracies = column.pivot_table("accuracy", "label", "seed", sort=False)  # label × seed
        seeds = accuracies.columns[accuracies.loc[label].notna()]
        means = accuracies[seeds].dropna().mean(axis=1)
        best = label if means[label] == means.max() else means.idxmax()
        is_biased = any((spec.process or "").startswith("biased") for spec in specs)
        found.append(Regret(data, setting, best, float(means[best]), float(means[label]), is_biased))
    return found
