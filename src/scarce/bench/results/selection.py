"""Model selection without true labels: which epoch and method each criterion chooses, and their true accuracy."""

from dataclasses import dataclass
from statistics import fmean

from scarce.bench.results.results import ExperimentResults, finite_values
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord
from scarce.metrics.criteria import RECORDED_CRITERIA

__all__ = ["EpochChoice", "MethodChoice", "criteria", "epoch_choices", "method_choices"]


@dataclass(frozen=True)
class EpochChoice:
    """Mean test accuracy over trials at the epochs that a criterion chooses, beside the alternatives."""

    data: str
    criterion: str
    n: int
    chosen: float
    last: float
    """Without selection: the mean over the last epochs, as in the tables."""
    oracle: float
    """At the best epoch by true labels."""


@dataclass(frozen=True)
class MethodChoice:
    """The method that a criterion chooses in a column of the tables, and the best of the compared ones by true labels."""

    data: str
    setting: str
    model: str
    criterion: str
    chosen: str
    accuracy: float
    best: str
    best_accuracy: float


def criteria(results: ExperimentResults) -> tuple[str, ...]:
    """Return the names of the criteria that any trial has."""
    return tuple(dict.fromkeys(name for record in results.done.values() for name in record.selection))


def epoch_choices(results: ExperimentResults) -> list[EpochChoice]:
    """Return, for every data set and criterion, the accuracy at the epochs with the best value of the criterion.

    Examples
    --------
    >>> from scarce.bench.results.results import TrialIndex
    >>> index = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(data="mnist", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="SCARCE", experiment="mine", protocol="paper", accuracy=0.6,
    ...     curves={"test_accuracy": [0.5, 0.9, 0.4]}, selection={"scel": [0.3, 0.2, 0.1]})
    >>> (choice,) = epoch_choices(ExperimentResults("mine", "Mine", "paper", {index: None}, {index: record}))
    >>> choice.chosen, choice.last, choice.oracle
    (0.4, 0.6, 0.9)
    """
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for index, record in results.done.items():
        truth = record.curves.get("test_accuracy", [])
        for name, values in record.selection.items():
            known = [
                (_higher_is_better(name, value), accuracy)
                for value, accuracy in zip(values, truth, strict=False)
                if value is not None and accuracy is not None
            ]
            if known and record.accuracy is not None:
                _, chosen = max(known, key=lambda pair: pair[0])  # among ties the first
                best = max(finite_values(truth))
                found.setdefault((index.data, name), []).append((chosen, record.accuracy, best))
    return [
        EpochChoice(data, name, len(rows), *(fmean(column) for column in zip(*rows, strict=True)))
        for (data, name), rows in found.items()
    ]


def method_choices(results: ExperimentResults) -> list[MethodChoice]:
    """Return, for every column of the tables and criterion, the method with the best value of the criterion at the end.

    The value of a method is the mean of the criterion over seeds and last epochs, like the accuracies of the tables. Columns
    with fewer than two methods are left out.
    """
    found: dict[tuple[str, str, str, str], dict[str, list[TrialRecord]]] = {}
    for index, record in results.done.items():
        for name in record.selection:
            if record.accuracy is not None and finite_values(record.selection[name][-LAST_EPOCHS:]):
                methods = found.setdefault((index.data, index.setting, index.model, name), {})
                methods.setdefault(index.label, []).append(record)
    return [
        _method_choice(column, name, methods)
        for (*column, name), methods in found.items()
        if len(methods) > 1
    ]


def _method_choice(column: list[str], name: str, methods: dict[str, list[TrialRecord]]) -> MethodChoice:
    def score(label: str) -> float:
        means = [fmean(finite_values(record.selection[name][-LAST_EPOCHS:])) for record in methods[label]]
        return _higher_is_better(name, fmean(means))

    truth = {label: fmean(record.accuracy or 0.0 for record in records) for label, records in methods.items()}
    chosen, best = max(methods, key=score), max(truth, key=lambda label: truth[label])
    data, setting, model = column
    return MethodChoice(data, setting, model, name, chosen, truth[chosen], best, truth[best])


def _higher_is_better(criterion: str, value: float) -> float:
    return value if RECORDED_CRITERIA[criterion].higher_is_better else -value
