"""Model selection without true labels: which epoch and method each criterion chooses, and their true accuracy."""

from statistics import fmean

from pandas import DataFrame

from scarce.bench.results.results import COLUMN, ExperimentResults, finite_values
from scarce.bench.trials.record import LAST_EPOCHS
from scarce.metrics.criteria import RECORDED_CRITERIA

__all__ = ["criteria", "epoch_choices", "method_choices"]


def criteria(results: ExperimentResults) -> tuple[str, ...]:
    """Return the names of all recorded criteria."""
    return tuple(dict.fromkeys(name for record in results.done.record for name in record.selection))


def epoch_choices(results: ExperimentResults) -> DataFrame:
    """Return, for every data set and criterion, the mean accuracy at the epochs with the best value of the criterion.

    Returns
    -------
    DataFrame
        Columns ``data``, ``criterion``, ``n`` (trials), and the mean test accuracies ``chosen`` (at the epoch that the criterion
        chooses), ``last`` (over the last epochs, as in the tables) and ``oracle`` (at the best epoch by true labels).

    Examples
    --------
    >>> from scarce.bench import Plan, TrialRecord, collect, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits"))
    >>> record = TrialRecord(spec=plan.trials[0].spec, label="nn", experiment="mine", protocol="own", accuracy=0.6,
    ...     curves={"test_accuracy": [0.5, 0.9, 0.4]}, selection={"scel": [0.3, 0.2, 0.1]})
    >>> print(epoch_choices(collect(plan, [record])).to_string(index=False))
      data criterion  n  chosen  last  oracle
    digits      scel  1     0.4   0.6     0.9
    """
    rows = []
    for trial in results.done.dropna(subset="accuracy").itertuples():
        truth = trial.record.curves.get("test_accuracy", [])
        for name, values in trial.record.selection.items():
            known = [
                (_higher_is_better(name, value), accuracy)
                for value, accuracy in zip(values, truth, strict=False)
                if value is not None and accuracy is not None
            ]
            if known:
                _, chosen = max(known, key=lambda pair: pair[0])  # among ties the first
                rows.append((trial.data, name, chosen, trial.accuracy, max(finite_values(truth))))
    choices = DataFrame(rows, columns=["data", "criterion", "chosen", "last", "oracle"])
    means = {name: (name, "mean") for name in ("chosen", "last", "oracle")}
    return choices.groupby(["data", "criterion"], sort=False, as_index=False).agg(n=("last", "size"), **means)


def method_choices(results: ExperimentResults) -> DataFrame:
    """Return, for every column of the tables and criterion, the method with the best value of the criterion at the end.

    The value of a method is the mean of the criterion over seeds and last epochs, like the accuracies of the tables. Columns
    with fewer than two methods are left out.

    Returns
    -------
    DataFrame
        Columns ``data``, ``setting``, ``model``, ``criterion``, ``chosen`` and ``accuracy`` (the method that the criterion chooses,
        and its mean test accuracy), ``best`` and ``best_accuracy`` (of the best of the compared methods by true labels).
    """
    rows = [
        (
            *(getattr(trial, name) for name in COLUMN),
            name,
            trial.label,
            _higher_is_better(name, fmean(last)),
            trial.accuracy,
        )
        for trial in results.done.dropna(subset="accuracy").itertuples()
        for name, values in trial.record.selection.items()
        if (last := finite_values(values[-LAST_EPOCHS:]))
    ]
    columns = [*COLUMN, "criterion"]
    trials = DataFrame(rows, columns=[*columns, "label", "value", "accuracy"])
    means = trials.groupby([*columns, "label"], sort=False, as_index=False).mean()
    choices = []
    for key, methods in means.groupby(columns, sort=False):
        if len(methods) > 1:
            chosen, best = (methods.loc[methods[name].idxmax()] for name in ("value", "accuracy"))
            choices.append((*key, chosen.label, chosen.accuracy, best.label, best.accuracy))
    return DataFrame(choices, columns=[*columns, "chosen", "accuracy", "best", "best_accuracy"])


def _higher_is_better(criterion: str, value: float) -> float:
    return value if RECORDED_CRITERIA[criterion].higher_is_better else -value
