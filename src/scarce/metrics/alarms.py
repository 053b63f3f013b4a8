"""Signs that an accuracy estimated without true labels cannot be trusted; none of them needs a true label."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, norm

from scarce._arrays import FloatArray, IntArray
from scarce._validation import abbreviate
from scarce.labels import ComplementaryLabels
from scarce.labels.single_label import is_single_label
from scarce.metrics.accuracy import AccuracyEstimate
from scarce.metrics.co_exclusion import co_exclusion_test
from scarce.metrics.confusion import Confusion
from scarce.metrics.label_model import LabelModel
from scarce.metrics.scar_fit import fit_scar

__all__ = ["Alarm", "find_alarms"]

_LEVEL = 0.99  # of the intervals that shares and learned priors must leave
_MARGIN = 0.05  # by which they must leave them
_OFF = 0.15  # relative deviation that matters
_WIDE = 0.5  # an interval from which nothing follows
_APPARENT = 0.1  # apparent errors of all examples below which wrong labels do not matter
_LEFT = 0.3  # the share of them that may remain among the surer half
_BEYOND = 0.03  # by how much they may exceed what the classifier expects there
_MOST_LEFT = 0.65  # the share of them that may remain though the classifier expects as many


class Alarm(NamedTuple):
    """What is wrong, by name and in one sentence.

    Examples
    --------
    >>> str(Alarm("few-labels", "the interval is wide."))
    'few-labels: the interval is wide.'
    """

    name: str
    message: str

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
        What was counted, and how labels arise.
    labels : ComplementaryLabels
        The labels themselves.
    model : LabelModel
        How they arise.
    accuracy : AccuracyEstimate
        The estimate.
    learned_priors : array of shape (q,), optional
        Priors that the judged classifier has learned.
    confidence : array of shape (n,), optional
        How sure the classifier is of every prediction.
    """
    violated = list(_violated_scar(confusion, labels, model, confidence))
    low, high = _possible_priors(labels, model, is_scar=not violated)
    found = [
        *_impossible_shares(confusion, labels, high),
        *_learned_priors(labels, low, high, learned_priors),
        *_no_better_than_constant(confusion, labels, accuracy),
        *_unidentified(confusion, labels, accuracy),
        *violated,
        *_questions(confusion, labels, model),
        *_wrong_labels(confusion, model, confidence),
    ]
    return tuple(found)


def _possible_priors(
    labels: ComplementaryLabels, model: LabelModel, is_scar: bool
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the priors; without SCAR, labels tell no more than that at most 1 − r_k do not exclude class k."""
    if is_scar or model.source != "labels":
        return model.prior_interval(_LEVEL)
    return np.zeros(labels.n_classes), 1 - labels.rates


def _impossible_shares(
    confusion: Confusion, labels: ComplementaryLabels, high: FloatArray
) -> Iterator[Alarm]:
    shares, n = confusion.tallies.shares, confusion.tallies.n_examples
    noise = 3 * np.sqrt(shares * (1 - shares) / n)
    excess = shares - noise - high - _MARGIN
    if (excess > 0).any():
        k = int(excess.argmax())
        yield Alarm(
            "impossible-shares",
            f"class {labels.classes[k]} is predicted for {shares[k]:.0%} of the examples, but by the labels at most {high[k]:.0%} "
            "are of it. It is predicted far too often; train with another method, or pass priors if you know them.",
        )


def _learned_priors(
    labels: ComplementaryLabels, low: FloatArray, high: FloatArray, learned: FloatArray | None
) -> Iterator[Alarm]:
    if learned is None:
        return
    excess = np.maximum(learned - high, low - learned) - _MARGIN
    if (excess > 0).any():
        k = int(excess.argmax())
        yield Alarm(
            "learned-priors",
            f"the classifier believes that {learned[k]:.0%} of the examples are of class {labels.classes[k]}; the labels allow "
            f"{low[k]:.0%} to {high[k]:.0%}. Train it again with priors that you know, or with more labels.",
        )


def _no_better_than_constant(
    confusion: Confusion, labels: ComplementaryLabels, accuracy: AccuracyEstimate
) -> Iterator[Alarm]:
    k = int(confusion.priors.argmax())
    # Of constant predictions the two are the same number, up to rounding.
    least = accuracy.value - norm.ppf(0.95) * np.sqrt((confusion.influences**2).sum())
    if least <= confusion.priors[k] + 1e-9:
        yield Alarm(
            "no-better-than-constant",
            f"the labels do not show that the classifier is better than always saying {labels.classes[k]}, which would be right in "
            f"about {confusion.priors[k]:.0%}.",
        )


def _unidentified(
    confusion: Confusion, labels: ComplementaryLabels, accuracy: AccuracyEstimate
) -> Iterator[Alarm]:
    shares = confusion.tallies.shares
    hidden = (confusion.trials == 0) & (shares > 0.01)
    if hidden.any():
        verb = "was asked about" if confusion.tallies.from_answers else "excludes"
        yield Alarm(
            "unidentified",
            f"{shares[hidden].sum():.0%} of the predictions are {abbreviate(labels.classes[hidden])}, which nobody {verb}: "
            "errors in them cannot be detected, and the estimate counts them as right.",
        )
    if accuracy.value - norm.ppf(0.99) * accuracy.standard_error > 1 + 1e-9:  # not by rounding
        yield Alarm(
            "unidentified",
            f"the estimate is {accuracy.value:.2f}, more than labels can show: they contradict the predictions less often than "
            "their error rates say. Check the error rates.",
        )
    if accuracy.high - accuracy.low > _WIDE:
        yield Alarm(
            "few-labels",
            f"the {accuracy.level:.0%} interval is {accuracy.low:.2f} to {accuracy.high:.2f}: too few labels to tell. Evaluate on "
            "more of them, or pass priors if you know them.",
        )


def _violated_scar(
    confusion: Confusion,
    labels: ComplementaryLabels,
    model: LabelModel,
    confidence: NDArray[np.floating] | None,
) -> Iterator[Alarm]:
    """Test whether any priors can explain how often the examples of each predicted class exclude each class."""
    t = confusion.tallies
    if t.from_answers:
        return
    given = model.priors if model.source == "given" else None
    groups = [None] if confidence is None else [None, _surer_half(t.codes, np.asarray(confidence, float))]
    fits = [fit_scar(t, given, model.errors.false_negative, is_single_label(labels), rows) for rows in groups]
    fit = max(fits, key=lambda fit: fit.statistic / fit.limit_of_statistic)
    if fit.rejects_scar:
        yield _scar_alarm(
            f"{fit.share:.0%} of the examples predicted {labels.classes[fit.predicted]} are said not to be "
            f"{labels.classes[fit.excluded]}, where at most {fit.limit:.0%} should be"
            if fit.limit < fit.share
            else f"the examples predicted {labels.classes[fit.predicted]} exclude more or fewer classes than they should"
        )
    elif labels.per_example.max(initial=0) > 1:
        test = co_exclusion_test(labels, model.priors)
        if test.rejects_scar:
            yield _scar_alarm(
                f"classes are excluded together more often than independently (Z = {test.statistic:.1f})"
            )


def _surer_half(codes: IntArray, confidence: FloatArray) -> NDArray[np.bool_]:
    """Return for every example whether it is in the surer half of those that are predicted to be of its class."""
    order = np.lexsort((-confidence, codes))
    starts = np.searchsorted(codes[order], codes[order])
    sizes = np.bincount(codes)[codes[order]]
    surer = np.empty(len(codes), bool)
    surer[order] = np.arange(len(codes)) - starts < sizes / 2
    return surer


def _scar_alarm(what: str) -> Alarm:
    return Alarm(
        "scar-violated",
        f"{what}. What examples exclude depends on more than chance, so the estimate may be far off; check it with true classes.",
    )


def _questions(confusion: Confusion, labels: ComplementaryLabels, model: LabelModel) -> Iterator[Alarm]:
    """Test that questions are independent of predictions, and that shares of "yes" sum to what error rates say."""
    t = confusion.tallies
    if not t.from_answers:
        return
    asked = t.asked_predicted[np.ix_(t.asked_predicted.sum(axis=1) > 0, t.asked > 0)]
    if min(asked.shape) > 1:
        own = t.asked_predicted.diagonal().sum() / max(t.asked_predicted.sum(), 1)
        expected = float(t.asked @ t.shares) / max(t.asked.sum(), 1)
        if chi2_contingency(asked).pvalue < 1e-4 and abs(own - expected) > _OFF * expected + 0.01:
            yield Alarm(
                "questions-not-random",
                f"{own:.0%} of the questions are about the predicted class, where {expected:.0%} of random ones would be: they "
                "were chosen by something that knows the example. Estimate the accuracy from random questions only.",
            )
            return
    if (t.asked == 0).any():
        return
    yes = 1 - t.rates
    miss, false = model.errors.false_negative, model.errors.false_positive
    expected = 1 - miss + (len(yes) - 1) * false
    error = np.sqrt(
        (yes * (1 - yes) / t.asked).sum()
        + (len(yes) * model.error_draws[:, 1] - model.error_draws[:, 0]).var()
    )
    if abs(yes.sum() - expected) > max(4 * error, _OFF * 2 / 3):
        yield Alarm(
            "wrong-answers",
            f'the shares of "yes" of all classes sum to {yes.sum():.2f}, expected {expected:.2f}: answers are wrong more often '
            "than assumed, or questions were not random. Ask some questions twice, or pass the error rates.",
        )


def _wrong_labels(
    confusion: Confusion, model: LabelModel, confidence: NDArray[np.floating] | None
) -> Iterator[Alarm]:
    """Compare apparent errors among the surest predictions with those among all: wrong labels do not become rarer."""
    if confidence is None or model.error_source != "none":
        return
    t = confusion.tallies
    weight = confusion.beta / np.maximum(confusion.trials, 1) * t.n_examples
    wrong = t.is_denied & (t.codes[t.rows] == t.classes)
    apparent = np.bincount(t.rows, weight[t.classes] * wrong, t.n_examples)
    sure = np.asarray(confidence, float)
    surest = np.zeros(t.n_examples, bool)
    surest[np.argsort(-sure, kind="stable")[: max(1, t.n_examples // 2)]] = True
    overall, among = float(apparent.mean()), float(apparent[surest].mean())
    beyond = (apparent - (1 - sure))[surest]

    def contrast(left: float) -> FloatArray:
        found: FloatArray = apparent * (surest / surest.mean() - left)
        return found

    # Apparent errors should become rarer where the classifier is surer, and not exceed what it expects itself.
    stays = _is_clearly_above(contrast(_LEFT), 0.0)
    exceeds = _is_clearly_above(beyond, _BEYOND) or _is_clearly_above(contrast(_MOST_LEFT), 0.0)
    if overall > _APPARENT and stays and exceeds:
        yield Alarm(
            "wrong-labels",
            f"labels contradict the surer half of the predictions as if {among:.0%} of them were wrong, and {overall:.0%} of "
            "all: some labels may be wrong, or the confidence means nothing. Pass the share of wrong labels if you know it.",
        )


def _is_clearly_above(values: FloatArray, limit: float) -> bool:
    """Return whether the mean of values exceeds a limit, in a one-sided test at 5 %."""
    return bool(values.mean() - norm.ppf(0.95) * values.std() / np.sqrt(len(values)) > limit)
