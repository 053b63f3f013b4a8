"""Evaluation from complementary labels alone: accuracy, recall, precision, confusions, and alarms."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce._arrays import FloatArray
from scarce._console import MAX_WIDTH, text_table
from scarce.errors import FeatureError
from scarce.labels import ComplementaryLabels
from scarce.metrics._blocks import predicted_codes
from scarce.metrics._confusion import Confusion, Tallies, tally_labels
from scarce.metrics.accuracy import AccuracyEstimate, accuracy_from_confusion
from scarce.metrics.alarms import Alarm, find_alarms
from scarce.metrics.label_model import ErrorRates, LabelModel, as_label_model

_MAX_CLASSES_SHOWN = 20
_MIN_PRIOR = 1e-3  # classes with a smaller prior get no recall
_MAX_INTERVAL_WIDTH = 0.8  # scores with a wider interval are not reported
_ASSUMED_ERROR_RATE = 0.05  # reported as "up to 5% wrong labels" if error rates are unknown
_SOURCES = {
    "given": "given",
    "answers": 'from the fractions of "yes" (answers to random questions)',
    "labels": "estimated from these labels",
}


class Score(NamedTuple):
    """An estimate with the bounds of its confidence interval: value, low and high."""

    value: float
    low: float
    high: float


class ClassScores(NamedTuple):
    """The scores of one class; `recall` and `precision` are None if the labels do not determine them.

    `predicted` is the fraction of examples predicted as the class. `n_labels` counts the examples that exclude it or, if some
    answers are "yes", the questions about it.
    """

    name: Any
    prior: Score
    predicted: float
    precision: Score | None
    recall: Score | None
    n_labels: int


@dataclass(frozen=True, eq=False)
class ComplementaryReport:
    """The evaluation of a classifier from complementary labels alone; print it for a summary.

    Attributes
    ----------
    accuracy : AccuracyEstimate
        The accuracy.
    balanced_accuracy : Score or None
        The mean recall over all classes; None if the labels do not determine it.
    classes : tuple of ClassScores
        Prior, fraction of predictions, precision, recall and number of labels of every class.
    confusion : array of shape (q, q)
        P(predicted j, y = k), one row per predicted class. The estimate is not clipped, so cells may be negative.
    confusion_errors : array of shape (q, q)
        The standard error of every cell.
    clear_confusions : array of bool, shape (q, q)
        The confusions that are significantly above zero.
    label_model : LabelModel
        Priors and error rates of the labels.
    if_labels_are_wrong : Score or None
        The accuracy if 5 % of the examples excluded their own class; `low` and `high` are the range from no such errors to 5 %.
        None if error rates are given or learned.
    alarms : tuple of Alarm
        Reasons not to trust the estimates.
    n_examples, n_labels : int
        The numbers of examples and of labels that the estimates are based on.

    See Also
    --------
    complementary_report : Computes it.

    Examples
    --------
    >>> from scarce.simulate import uniform
    >>> y = np.arange(900) % 3
    >>> report = complementary_report(np.where(np.arange(900) < 800, y, 0), uniform(y, seed=0))
    >>> report.confusion.shape, [score.name for score in report.classes]
    ((3, 3), [0, 1, 2])
    """

    accuracy: AccuracyEstimate
    balanced_accuracy: Score | None
    classes: tuple[ClassScores, ...]
    confusion: FloatArray
    confusion_errors: FloatArray
    clear_confusions: NDArray[np.bool_]
    label_model: LabelModel
    if_labels_are_wrong: Score | None
    n_examples: int
    n_labels: int
    alarms: tuple[Alarm, ...] = field(default=())

    def most_confused(self, n: int = 5) -> list[tuple[Any, Any, float, float]]:
        """Return the n largest significant confusions: predicted class, true class, fraction of all examples, standard error."""
        cells = np.argwhere(self.clear_confusions)
        order = np.argsort([-self.confusion[j, k] for j, k in cells], kind="stable")[:n]
        names = [one.name for one in self.classes]
        return [
            (names[j], names[k], float(self.confusion[j, k]), float(self.confusion_errors[j, k]))
            for j, k in cells[order]
        ]

    def __str__(self) -> str:
        return "\n".join([*self.summary_lines(), "", *self.class_lines(), *self.alarm_lines()])

    def summary_lines(self) -> list[str]:
        """Return lines with the accuracy, the balanced accuracy, their assumptions, and the accuracy if some labels are wrong."""
        errors, model = self.label_model.errors, self.label_model
        lines = [f"accuracy without true labels  {self.accuracy}"]
        if self.balanced_accuracy is not None:
            value, low, high = self.balanced_accuracy
            lines.append(f"balanced accuracy             {value:.4f} ({low:.4f} to {high:.4f})")
        lines.append(f"priors                        {_SOURCES[model.source]}")
        if model.error_source != "none":
            lines.append(
                f"label error rates             {model.error_source}: false negatives {errors.false_negative:.1%}, "
                f"false positives {errors.false_positive:.1%} (corrected)"
            )
        if self.if_labels_are_wrong is not None:
            _, low, high = self.if_labels_are_wrong
            lines.append(f"with up to {_ASSUMED_ERROR_RATE:.0%} wrong labels    {low:.4f} to {high:.4f}")
        return lines

    def class_lines(self, width: int = MAX_WIDTH) -> list[str]:
        """Return the table of classes, at most `width` characters wide, and the significant confusions."""
        columns = ["class", "precision", "recall", "95%", "predicted", "prior", "95%", "labels"]
        rows = [
            [
                str(one.name),
                "-" if one.precision is None else f"{one.precision.value:.2f}",
                "-" if one.recall is None else f"{one.recall.value:.2f}",
                "-" if one.recall is None else f"{one.recall.low:.2f}-{one.recall.high:.2f}",
                f"{one.predicted:.3f}",
                f"{one.prior.value:.3f}",
                f"{one.prior.low:.2f}-{one.prior.high:.2f}",
                f"{one.n_labels:,}",
            ]
            for one in self.classes[:_MAX_CLASSES_SHOWN]
        ]
        lines = text_table(columns, rows, 1, width).splitlines()
        if len(self.classes) > _MAX_CLASSES_SHOWN:
            lines.append(f"... and {len(self.classes) - _MAX_CLASSES_SHOWN:,} more classes")
        confused = self.most_confused()
        if confused:
            lines.append("largest confusions (percent of all examples):")
            lines += [
                f"  {true} predicted as {predicted}: {fraction:.1%} ± {error:.1%}"
                for predicted, true, fraction, error in confused
            ]
        return lines

    def alarm_lines(self) -> list[str]:
        """Return one line per alarm."""
        return [f"ALARM {alarm}" for alarm in self.alarms]

    def as_dict(self) -> dict[str, Any]:
        """Return all results as a dict that can be serialized as JSON."""
        errors = self.label_model.errors
        return {
            "accuracy": self.accuracy.value,
            "standard_error": self.accuracy.standard_error,
            "low": self.accuracy.low,
            "high": self.accuracy.high,
            "level": self.accuracy.level,
            "unseen": [str(name) for name in self.accuracy.unseen],
            "balanced_accuracy": None if self.balanced_accuracy is None else self.balanced_accuracy._asdict(),
            "if_labels_are_wrong": None
            if self.if_labels_are_wrong is None
            else {"share": _ASSUMED_ERROR_RATE, **self.if_labels_are_wrong._asdict()},
            "priors_from": self.label_model.source,
            "errors_from": self.label_model.error_source,
            "false_negative_rate": errors.false_negative,
            "false_positive_rate": errors.false_positive,
            "classes": [
                {
                    name: value._asdict() if isinstance(value, Score) else value
                    for name, value in one._replace(name=str(one.name))._asdict().items()
                }
                for one in self.classes
            ],
            "confusion": self.confusion.tolist(),
            "confusion_errors": self.confusion_errors.tolist(),
            "alarms": [alarm._asdict() for alarm in self.alarms],
            "n_examples": self.n_examples,
            "n_labels": self.n_labels,
        }


def complementary_report(
    predicted: Any,
    labels: ComplementaryLabels,
    priors: Any = None,
    *,
    confidence: NDArray[np.floating] | None = None,
    learned_priors: FloatArray | None = None,
    level: float = 0.95,
) -> ComplementaryReport:
    """Evaluate predictions with complementary labels alone: accuracy, precision, recall, confusions, and alarms.

    Parameters
    ----------
    predicted : array of shape (n,)
        Class names predicted by a classifier that was not trained on these labels.
    labels : ComplementaryLabels
        Labels of the same examples.
    priors : array of shape (q,) or LabelModel, optional
        π, or a label model. By default `fit_label_model` estimates it from the labels, never from the classifier.
    confidence : array of shape (n,), optional
        The confidence of each prediction, such as its probability; it helps to detect wrong labels.
    learned_priors : array of shape (q,), optional
        Priors that the classifier has learned. They do not enter the estimates, but an alarm is raised if the labels contradict
        them.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    ComplementaryReport
        Estimates, intervals and alarms.

    Raises
    ------
    FeatureError
        If there is not exactly one prediction, or one confidence, per example.
    LabelError
        If a prediction is not one of the classes.
    PriorError
        If the priors or the label model do not fit the classes.

    See Also
    --------
    complementary_accuracy : The accuracy alone.
    fit_label_model : Priors and error rates from labels.

    Examples
    --------
    >>> from scarce.simulate import uniform
    >>> y = np.arange(900) % 3
    >>> report = complementary_report(np.where(np.arange(900) < 800, y, 0), uniform(y, seed=0))
    >>> report.accuracy.low < 833 / 900 < report.accuracy.high, report.alarms
    (True, ())
    >>> constant = complementary_report(np.zeros(900, int), uniform(y, seed=0))
    >>> [alarm.name for alarm in constant.alarms]
    ['impossible-shares', 'no-better-than-constant'...]
    """
    codes = predicted_codes(predicted, labels)
    if confidence is not None and np.shape(confidence) != (len(labels),):
        raise FeatureError(
            f"the confidence has shape {np.shape(confidence)}; expected {len(labels)} numbers, one per prediction: pass "
            "clf.predict_proba(X).max(axis=1)."
        )
    model = as_label_model(labels, priors)
    tallies = tally_labels(codes, labels)
    confusion = Confusion.from_tallies(tallies, model)
    accuracy = accuracy_from_confusion(confusion, labels, level)
    classes, balanced = _class_scores(confusion, labels, level)
    return ComplementaryReport(
        accuracy=accuracy,
        balanced_accuracy=balanced,
        classes=classes,
        confusion=confusion.matrix,
        confusion_errors=confusion.standard_errors,
        clear_confusions=confusion.clear_confusions,
        label_model=model,
        if_labels_are_wrong=_accuracy_if_labels_are_wrong(tallies, model, accuracy.value),
        n_examples=tallies.n_examples,
        n_labels=len(tallies.rows),
        alarms=find_alarms(
            confusion, labels, model, accuracy, learned_priors=learned_priors, confidence=confidence
        ),
    )


def _class_scores(
    confusion: Confusion, labels: ComplementaryLabels, level: float
) -> tuple[tuple[ClassScores, ...], Score | None]:
    t, z = confusion.tallies, float(norm.ppf((1 + level) / 2))
    right, priors, fractions = confusion.matrix.diagonal(), confusion.priors, t.predicted_fractions
    diagonal = confusion.contradicted_fractions.diagonal()
    count_errors = confusion.beta * np.sqrt(diagonal * (1 - diagonal) / np.maximum(confusion.trials, 1))
    tails = (1 - level) / 2, (1 + level) / 2
    bounds = np.quantile(confusion.prior_draws, tails, axis=0)
    recalls = np.clip(right / np.maximum(priors, _MIN_PRIOR), 0, 1)
    recall_draws = np.clip(confusion.diagonal_draws / np.maximum(confusion.prior_draws, _MIN_PRIOR), 0, 1)
    precision_errors = np.hypot(count_errors, confusion.diagonal_draws.std(axis=0)) / np.maximum(
        fractions, _MIN_PRIOR
    )
    is_identified = (priors >= _MIN_PRIOR) & (confusion.trials > 0)

    def score(value: float, error: float, draws: FloatArray | None = None) -> Score:
        down, up = (value, value) if draws is None else np.quantile(draws, tails)
        low = value - np.hypot(z * error, max(value - down, 0.0))
        high = value + np.hypot(z * error, max(up - value, 0.0))
        return Score(*np.clip([value, low, high], 0, 1).tolist())

    def unless_too_wide(one: Score) -> Score | None:
        return one if one.high - one.low <= _MAX_INTERVAL_WIDTH else None

    recall_errors = count_errors / np.maximum(priors, _MIN_PRIOR)
    found = tuple(
        ClassScores(
            name=name,
            prior=Score(float(priors[k]), float(bounds[0, k]), float(bounds[1, k])),
            predicted=float(fractions[k]),
            precision=unless_too_wide(score(float(right[k] / fractions[k]), float(precision_errors[k])))
            if fractions[k] > 0 and confusion.trials[k] > 0
            else None,
            recall=unless_too_wide(score(float(recalls[k]), float(recall_errors[k]), recall_draws[:, k]))
            if is_identified[k]
            else None,
            n_labels=int(t.denied[k] if not t.from_answers else t.asked[k]),
        )
        for k, name in enumerate(labels.classes.tolist())
    )
    if not is_identified.all():
        return found, None
    spread = float(np.sqrt((recall_errors**2).sum()) / len(priors))
    return found, unless_too_wide(score(float(recalls.mean()), spread, recall_draws.mean(axis=1)))


def _accuracy_if_labels_are_wrong(tallies: Tallies, model: LabelModel, value: float) -> Score | None:
    """Return the accuracy if 5 % of examples excluded their own class, with the range from 0 % to 5 %; None if rates are known."""
    if model.error_source != "none":
        return None
    priors, rates = model.priors, (_ASSUMED_ERROR_RATE, 0.0)
    wrong = LabelModel(priors, ErrorRates(*rates), model.source, "given", priors[None], np.array([rates]))
    confusion = Confusion.from_tallies(tallies, wrong)
    if_wrong = float(np.clip(confusion.matrix.trace(), 0, 1))
    if_right = float(np.clip(value, 0, 1))
    return Score(if_wrong, min(if_right, if_wrong), max(if_right, if_wrong))
