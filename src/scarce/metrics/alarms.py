"""Alarms: reasons not to trust an accuracy estimate, found without true labels."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, norm

from scarce._arrays import FloatArray, IntArray
from scarce._validation import abbreviate
from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.metrics._confusion import Confusion
from scarce.metrics._scar_fit import fit_scar
from scarce.metrics.accuracy import AccuracyEstimate
from scarce.metrics.co_exclusion import co_exclusion_test
from scarce.metrics.label_model import LabelModel

_INTERVAL_LEVEL = 0.99  # of the intervals of class priors
_INTERVAL_MARGIN = 0.05  # how far a fraction or a learned prior must lie outside its interval
_MAX_RELATIVE_DEVIATION = 0.15
_MAX_INTERVAL_WIDTH = 0.5  # a wider interval is uninformative
_MIN_APPARENT_ERROR_RATE = 0.1  # of all examples; below it wrong labels do not matter
_MAX_REMAINING_FRACTION = 0.3  # of the apparent error rate, in the more confident half
_MAX_EXCESS_ERROR_RATE = 0.03  # above the error rate that the classifier expects there
_MAX_EXPECTED_REMAINING_FRACTION = 0.65  # the same, if the classifier itself expects that many errors


class Alarm(NamedTuple):
    """A reason not to trust an estimate: a name, and one or two sentences.

    See Also
    --------
    complementary_report : Returns alarms with the estimates.

    Examples
    --------
    >>> str(Alarm("few-labels", "the interval is wide."))
    'few-labels: the interval is wide.'
    """

    name: str
    """The kind of alarm, such as ``scar-violated``."""
    message: str
    """What was found, and what to do."""

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def find_alarms(
    confusion: Confusion,
    labels: ComplementaryLabels,
    model: LabelModel,
    accuracy: AccuracyEstimate,
    *,
    learned_priors: FloatArray | None = None,
    confidence: NDArray[np.floating] | None = None,
) -> tuple[Alarm, ...]:
    """Return all alarms about an estimate.

    Parameters
    ----------
    confusion : Confusion
        The estimated confusion matrix.
    labels : ComplementaryLabels
        The labels it was estimated from.
    model : LabelModel
        Priors and error rates of the labels.
    accuracy : AccuracyEstimate
        The estimate.
    learned_priors : array of shape (q,), optional
        Priors that the classifier has learned.
    confidence : array of shape (n,), optional
        The confidence of the classifier in each prediction.

    Returns
    -------
    tuple of Alarm
        Empty if nothing is wrong.
    """
    scar_alarms = list(_scar_violations(confusion, labels, model, confidence))
    low, high = _prior_bounds(labels, model, is_scar=not scar_alarms)
    found = [
        *_impossible_shares(confusion, labels, high),
        *_learned_priors(labels, low, high, learned_priors),
        *_no_better_than_constant(confusion, labels, accuracy),
        *_unidentified(confusion, labels, accuracy),
        *scar_alarms,
        *_questions(confusion, labels, model),
        *_wrong_labels(confusion, model, confidence),
    ]
    return tuple(found)


def _prior_bounds(
    labels: ComplementaryLabels, model: LabelModel, is_scar: bool
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the priors, each of shape (q,); without SCAR, labels only show that π_k ≤ 1 − r_k."""
    if is_scar or model.source != "labels":
        return model.prior_interval(_INTERVAL_LEVEL)
    return np.zeros(labels.n_classes), 1 - labels.rates


def _impossible_shares(
    confusion: Confusion, labels: ComplementaryLabels, high: FloatArray
) -> Iterator[Alarm]:
    fractions, n = confusion.tallies.predicted_fractions, confusion.tallies.n_examples
    noise = 3 * np.sqrt(fractions * (1 - fractions) / n)
    excess = fractions - noise - high - _INTERVAL_MARGIN
    if (excess > 0).any():
        k = int(excess.argmax())
        yield Alarm(
            "impossible-shares",
            f"class {labels.classes[k]} is predicted for {fractions[k]:.0%} of the examples, but according to the labels at most "
            f"{high[k]:.0%} can belong to it. Train with another method, or pass the priors if you know them.",
        )


def _learned_priors(
    labels: ComplementaryLabels, low: FloatArray, high: FloatArray, learned: FloatArray | None
) -> Iterator[Alarm]:
    if learned is None:
        return
    excess = np.maximum(learned - high, low - learned) - _INTERVAL_MARGIN
    if (excess > 0).any():
        k = int(excess.argmax())
        yield Alarm(
            "learned-priors",
            f"the classifier learned a prior of {learned[k]:.0%} for class {labels.classes[k]}, but the labels allow only "
            f"{low[k]:.0%} to {high[k]:.0%}. Train again with known priors or with more labels.",
        )


def _no_better_than_constant(
    confusion: Confusion, labels: ComplementaryLabels, accuracy: AccuracyEstimate
) -> Iterator[Alarm]:
    k = int(confusion.priors.argmax())
    # For constant predictions the two are equal up to rounding.
    lower_bound = accuracy.value - norm.ppf(0.95) * np.sqrt((confusion.influences**2).sum())
    if lower_bound <= confusion.priors[k] + 1e-9:
        yield Alarm(
            "no-better-than-constant",
            f"the labels do not show that the classifier is better than always predicting class {labels.classes[k]}, which would "
            f"be right for about {confusion.priors[k]:.0%} of the examples. Evaluate on more labels, or train with another method.",
        )


def _unidentified(
    confusion: Confusion, labels: ComplementaryLabels, accuracy: AccuracyEstimate
) -> Iterator[Alarm]:
    fractions = confusion.tallies.predicted_fractions
    undetectable = (confusion.trials == 0) & (fractions > 0.01)
    if undetectable.any():
        source = "question asks about" if confusion.tallies.from_answers else "example excludes"
        yield Alarm(
            "unidentified",
            f"{fractions[undetectable].sum():.0%} of the predictions are of classes that no {source} "
            f"({abbreviate(labels.classes[undetectable])}): errors in them cannot be detected, so they all count as correct. "
            "Collect labels for these classes.",
        )
    if accuracy.value - norm.ppf(0.99) * accuracy.standard_error > 1 + 1e-9:  # more than rounding
        yield Alarm(
            "unidentified",
            f"the estimate is {accuracy.value:.2f}, which is impossible: the labels contradict the predictions less often than "
            "the assumed error rates imply. Check the error rates.",
        )
    if accuracy.high - accuracy.low > _MAX_INTERVAL_WIDTH:
        yield Alarm(
            "few-labels",
            f"the {accuracy.level:.0%} interval, {accuracy.low:.2f} to {accuracy.high:.2f}, is too wide to be useful. Evaluate on "
            "more labels, or pass the priors if you know them.",
        )


def _scar_violations(
    confusion: Confusion,
    labels: ComplementaryLabels,
    model: LabelModel,
    confidence: NDArray[np.floating] | None,
) -> Iterator[Alarm]:
    """Test whether any priors explain the rates at which examples of each predicted class exclude each class."""
    t = confusion.tallies
    if t.from_answers:
        return
    given = model.priors if model.source == "given" else None
    groups = (
        [None] if confidence is None else [None, _more_confident_half(t.codes, np.asarray(confidence, float))]
    )
    fits = [fit_scar(t, given, model.errors.false_negative, is_single_label(labels), rows) for rows in groups]
    fit = max(fits, key=lambda fit: fit.statistic / fit.critical_value)
    if fit.rejects_scar:
        yield _scar_alarm(
            f"{fit.rate:.0%} of the examples predicted as {labels.classes[fit.predicted]} exclude "
            f"{labels.classes[fit.excluded]}, but under SCAR at most {fit.max_rate:.0%} would"
            if fit.max_rate < fit.rate
            else f"examples predicted as {labels.classes[fit.predicted]} exclude more or fewer classes than SCAR predicts"
        )
    elif labels.per_example.max(initial=0) > 1:
        test = co_exclusion_test(labels, model.priors)
        if test.rejects_scar:
            yield _scar_alarm(
                f"classes are not excluded independently of each other (Z = {test.statistic:.1f}; about 1 under SCAR)"
            )


def _more_confident_half(codes: IntArray, confidence: FloatArray) -> NDArray[np.bool_]:
    """Return as bool of shape (n,) whether each example is in the more confident half of its predicted class."""
    order = np.lexsort((-confidence, codes))
    starts = np.searchsorted(codes[order], codes[order])
    sizes = np.bincount(codes)[codes[order]]
    is_confident = np.empty(len(codes), bool)
    is_confident[order] = np.arange(len(codes)) - starts < sizes / 2
    return is_confident


def _scar_alarm(what: str) -> Alarm:
    return Alarm(
        "scar-violated",
        f"{what}. Classes are not excluded completely at random, so the estimate may be far off; check it with true labels.",
    )


def _questions(confusion: Confusion, labels: ComplementaryLabels, model: LabelModel) -> Iterator[Alarm]:
    """Test that questions are independent of predictions, and that the fractions of "yes" have the sum that error rates imply."""
    t = confusion.tallies
    if not t.from_answers:
        return
    asked = t.asked_predicted[np.ix_(t.asked_predicted.sum(axis=1) > 0, t.asked > 0)]
    if min(asked.shape) > 1:
        about_predicted = t.asked_predicted.diagonal().sum() / max(t.asked_predicted.sum(), 1)
        expected = float(t.asked @ t.predicted_fractions) / max(t.asked.sum(), 1)
        if (
            chi2_contingency(asked).pvalue < 1e-4
            and abs(about_predicted - expected) > _MAX_RELATIVE_DEVIATION * expected + 0.01
        ):
            yield Alarm(
                "questions-not-random",
                f"{about_predicted:.0%} of the questions are about the predicted class; {expected:.0%} would be if questions were "
                "random, as the estimate assumes. Evaluate on answers to random questions only.",
            )
            return
    if (t.asked == 0).any():
        return
    yes = 1 - t.rates
    false_negative, false_positive = model.errors.false_negative, model.errors.false_positive
    expected = 1 - false_negative + (len(yes) - 1) * false_positive
    error = np.sqrt(
        (yes * (1 - yes) / t.asked).sum()
        + (len(yes) * model.error_draws[:, 1] - model.error_draws[:, 0]).var()
    )
    if abs(yes.sum() - expected) > max(4 * error, _MAX_RELATIVE_DEVIATION * 2 / 3):
        yield Alarm(
            "wrong-answers",
            f'the fractions of "yes" over all classes sum to {yes.sum():.2f}; expected {expected:.2f}: the assumed error rates are '
            "wrong, or the questions were not random. Ask some questions twice, or pass the error rates if you know them.",
        )


def _wrong_labels(
    confusion: Confusion, model: LabelModel, confidence: NDArray[np.floating] | None
) -> Iterator[Alarm]:
    """Compare the apparent error rate of confident predictions with that of all: errors caused by wrong labels do not get rarer."""
    if confidence is None or model.error_source != "none":
        return
    t = confusion.tallies
    weight = confusion.beta / np.maximum(confusion.trials, 1) * t.n_examples
    wrong = t.is_denied & (t.codes[t.rows] == t.classes)
    apparent = np.bincount(t.rows, weight[t.classes] * wrong, t.n_examples)
    confidence = np.asarray(confidence, float)
    is_confident = np.zeros(t.n_examples, bool)
    is_confident[np.argsort(-confidence, kind="stable")[: max(1, t.n_examples // 2)]] = True
    overall, among = float(apparent.mean()), float(apparent[is_confident].mean())
    excess = (apparent - (1 - confidence))[is_confident]

    def contrast(fraction: float) -> FloatArray:
        found: FloatArray = apparent * (is_confident / is_confident.mean() - fraction)
        return found

    # Apparent errors should be rarer where the classifier is more confident, and not exceed what it expects there.
    remains = _is_significantly_above(contrast(_MAX_REMAINING_FRACTION), 0.0)
    exceeds = _is_significantly_above(excess, _MAX_EXCESS_ERROR_RATE) or _is_significantly_above(
        contrast(_MAX_EXPECTED_REMAINING_FRACTION), 0.0
    )
    if overall > _MIN_APPARENT_ERROR_RATE and remains and exceeds:
        yield Alarm(
            "wrong-labels",
            f"according to the labels, {overall:.0%} of all predictions are wrong, and so are {among:.0%} of the more confident "
            "half, which should have far fewer errors: some labels may be wrong, or the confidence may be meaningless. Pass the "
            "error rate of the labels if you know it.",
        )


def _is_significantly_above(values: FloatArray, limit: float) -> bool:
    """Return whether the mean of values of shape (n,) exceeds a limit, in a one-sided test at level 5 %."""
    return bool(values.mean() - norm.ppf(0.95) * values.std() / np.sqrt(len(values)) > limit)
