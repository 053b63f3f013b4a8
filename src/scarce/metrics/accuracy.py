"""The accuracy of a classifier, estimated from complementary labels alone.

Under SCAR, with class priors π,

    accuracy = 1 − Σ_k (1 − π_k) · P( predicted k | k is excluded ):

because the examples that exclude k are a random sample of those that are not of class k. Answers to random questions are a
random sample of all examples, so they need no priors: accuracy = 1 − Σ_k P( predicted k and "no" | asked about k ).
`scarce.metrics._confusion` has the general form, with label errors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce.labels import ComplementaryLabels
from scarce.metrics._blocks import predicted_codes
from scarce.metrics._confusion import Confusion, tally_labels
from scarce.metrics.intervals import gamma_interval, wilson_interval
from scarce.metrics.label_model import as_label_model


@dataclass(frozen=True)
class AccuracyEstimate:
    """An accuracy estimated without true labels.

    Attributes
    ----------
    value : float
        The estimate. It is not clipped, which keeps it unbiased for known priors, so it may be below 0 or above 1.
    standard_error : float
        Its standard deviation, from the sampling of examples and from the uncertainty of priors and error rates.
    low, high : float
        Bounds of the confidence interval.
    level : float
        Confidence level of the interval.
    unseen : tuple
        Predicted classes that no example excludes, or no question asks about: wrong predictions of them cannot be detected.

    See Also
    --------
    complementary_accuracy : Returns it.

    Examples
    --------
    >>> print(AccuracyEstimate(0.9, 0.01, 0.88, 0.92, 0.95))
    0.9000 ± 0.0100 (95% interval 0.8800 to 0.9200)
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float
    unseen: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.standard_error:.4f} ({self.level:.0%} interval {self.low:.4f} to {self.high:.4f})"


def complementary_accuracy(
    predicted: Any, labels: ComplementaryLabels, priors: Any = None, *, level: float = 0.95
) -> AccuracyEstimate:
    """1 − Σ_k (1 − π_k) a_k, the accuracy of predictions estimated from complementary labels.

    a_k is the fraction of the n_k examples excluding k that are predicted k. If some answers are "yes", the labels count as
    answers to random questions: (1 − π_k) a_k becomes P(predicted k and "no" | asked about k) unless priors are given.
    If the label model has error rates, the estimate is corrected for them.

    For one label per example and known priors the standard error is √(Σ_k (1 − π_k)² a_k (1 − a_k) / n_k); in general it is that
    of a sum over independent examples. The interval combines Fay and Feuer's interval for weighted sums of rare events [1]_ with
    the uncertainty of estimated priors and error rates, so it is valid even if some a_k is 0 or few examples exclude k.

    Parameters
    ----------
    predicted : array of shape (n,)
        Class names predicted by a classifier that was not trained on these labels.
    labels : ComplementaryLabels
        Labels of the same examples.
    priors : array of shape (q,) or LabelModel, optional
        π, or a label model. By default `fit_label_model` estimates it from the labels, never from a classifier.
    level : float
        Confidence level of the interval.

    Returns
    -------
    AccuracyEstimate
        Value, standard error and interval.

    See Also
    --------
    complementary_report : The same with recall, precision, the confusion matrix and alarms.
    fit_label_model : Priors and error rates from labels.

    References
    ----------
    .. [1] M. P. Fay and E. J. Feuer, "Confidence Intervals for Directly Standardized Rates: A Method Based on the Gamma
       Distribution", Statistics in Medicine 16(7), 1997.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1, 1, 0], classes=2)
    >>> complementary_accuracy([1, 0, 1, 1], labels, [0.5, 0.5]).value
    0.75
    """
    codes = predicted_codes(predicted, labels)
    model = as_label_model(labels, priors)
    return accuracy_from_confusion(Confusion.from_tallies(tally_labels(codes, labels), model), labels, level)


def accuracy_from_confusion(
    confusion: Confusion, labels: ComplementaryLabels, level: float = 0.95
) -> AccuracyEstimate:
    """Return the accuracy, the sum of the diagonal of an estimated confusion matrix, with its interval.

    Parameters
    ----------
    confusion : Confusion
        The estimated confusion matrix.
    labels : ComplementaryLabels
        The labels it was estimated from.
    level : float
        Confidence level of the interval.
    """
    tallies, trials = confusion.tallies, confusion.trials
    weights = confusion.beta / np.maximum(trials, 1)
    best_value = float(
        confusion.alpha @ tallies.predicted_fractions
    )  # 1 if no label contradicts a prediction; slightly more with label errors
    wrong = float(weights @ tallies.contradicted.diagonal())
    variance = float((confusion.influences**2).sum())
    draws = confusion.diagonal_draws.sum(axis=1)
    seen = (trials > 0) & (tallies.predicted > 0)
    unseen = (trials == 0) & (tallies.predicted > 0)
    value = best_value - wrong
    max_weight = float(weights[seen].max(initial=0.0))
    # The distribution of a rare count is skewed, so use the rarer one: errors of a good classifier, hits of a bad one.
    if value > best_value / 2:
        low, high = gamma_interval(wrong, variance, max_weight, level)
        below, above = high - wrong, wrong - low
    else:
        low, high = gamma_interval(max(value, 0.0), variance, max_weight, level)
        below, above = value - low, high - value
    # All predictions of an unseen class may be wrong, but not more of them than there are examples of other classes.
    _, predicted = wilson_interval(tallies.predicted, np.full(len(trials), float(tallies.n_examples)), level)
    not_of_class = np.quantile(confusion.beta_draws, (1 + level) / 2, axis=0)
    undetected = float(np.minimum(confusion.alpha * predicted, not_of_class)[unseen].sum())
    down, up = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return AccuracyEstimate(
        value=value,
        standard_error=float(np.sqrt(variance + draws.var())),
        low=float(np.clip(value - np.hypot(below, max(value - down, 0.0)) - undetected, 0, 1)),
        high=float(np.clip(value + np.hypot(above, max(up - value, 0.0)), 0, 1)),
        level=level,
        unseen=tuple(labels.classes[unseen].tolist()),
    )
