"""What criteria that need no true label would have chosen, and how good that is in truth."""

from dataclasses import dataclass
from statistics import fmean

from scarce.bench.results.results import ExperimentResults, finished
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord
from scarce.metrics.criteria import RECORDED_CRITERIA

__all__ = ["EpochChoice", "MethodChoice", "criteria", "epoch_choices", "method_choices"]


@dataclass(frozen=True)
class EpochChoice:
    """Test accuracy, as a mean over trials, at the epochs that a criterion chooses, beside what else one could do."""

    data: str
    criterion: str
    n: int
    chosen: float
    last: float
    """Without any choice: the mean over the last epochs, as in the tables."""
    oracle: float
    """At the best epoch, which only true labels tell."""


@dataclass(frozen=True)
class MethodChoice:
    """The method that a criterion chooses in a column of the tables, and the truly best of those that it judged."""

    data: str
    setting: str
    model: str
    criterion: str
    chosen: str
    accuracy: float
    best: str
    best_accuracy: float


def criteria(study: ExperimentResults) -> tuple[str, ...]:
    """Return the names of the criteria that any trial was judged by."""
    return tuple(dict.fromkeys(name for record in study.done.values() for name in record.selection))


def epoch_choices(study: ExperimentResults) -> list[EpochChoice]:
    """Return, for every data set and criterion, how good the epochs are that the criterion likes best.

    Examples
    --------
    >>> from scarce.bench.results.results import TrialIndex
    >>> slot = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(data="mnist", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="SCARCE", experiment="mine", protocol="paper", accuracy=0.6,
    ...     curves={"test_accuracy": [0.5, 0.9, 0.4]}, selection={"scel": [0.3, 0.2, 0.1]})
    >>> (choice,) = epoch_choices(ExperimentResults("mine", "Mine", "paper", {slot: None}, {slot: record}))
    >>> choice.chosen, choice.last, choice.oracle
    (0.4, 0.6, 0.9)
    """
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for slot, record in study.done.items():
        truth = record.curves.get("test_accuracy", [])
        for name, values in record.selection.items():
            known = [
                (_goodness(name, value), accuracy)
                for value, accuracy in zip(values, truth, strict=False)
                if value is not None and accuracy is not None
            ]
            if known and record.accuracy is not None:
                _, chosen = max(
                    known, key=lambda pair: pair[0]
                )  # of equals the first, as one would stop there
                best = max(finished(truth))
                found.setdefault((slot.data, name), []).append((chosen, record.accuracy, best))
    return [
        EpochChoice(data, name, len(rows), *(fmean(column) for column in zip(*rows, strict=True)))
        for (data, name), rows in found.items()
    ]


def method_choices(study: ExperimentResults) -> list[MethodChoice]:
    """Return, for every column of the tables and criterion, the method that the criterion likes best at the end.

    A method is judged by the mean of the criterion over seeds and last epochs, as the accuracies of the tables are;
    where fewer than two methods can be judged, there is nothing to choose.
    """
    found: dict[tuple[str, str, str, str], dict[str, list[TrialRecord]]] = {}
    for slot, record in study.done.items():
        for name in record.selection:
            if record.accuracy is not None and finished(record.selection[name][-LAST_EPOCHS:]):
                methods = found.setdefault((slot.data, slot.setting, slot.model, name), {})
                methods.setdefault(slot.label, []).append(record)
    return [
        _method_choice(column, name, methods)
        for (*column, name), methods in found.items()
        if len(methods) > 1
    ]


def _method_choice(column: list[str], name: str, methods: dict[str, list[TrialRecord]]) -> MethodChoice:
    def judged(label: str) -> float:
        ends = [fmean(finished(record.selection[name][-LAST_EPOCHS:])) for record in methods[label]]
        return _goodness(name, fmean(ends))

    truth = {label: fmean(record.accuracy or 0.0 for record in records) for label, records in methods.items()}
    chosen, best = max(methods, key=judged), max(truth, key=lambda label: truth[label])
    data, setting, model = column
    return MethodChoice(data, setting, model, name, chosen, truth[chosen], best, truth[best])


def _goodness(criterion: str, value: float) -> float:
    return value if RECORDED_CRITERIA[criterion].higher_is_better else -value
