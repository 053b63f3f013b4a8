"""The accuracy of a classifier, estimated from complementary labels alone.

Under SCAR, with class priors π,

    accuracy = 1 − Σ_k (1 − π_k) · P( predicted k | k is excluded ):

one minus the rate, weighted by the priors, at which examples known not to be k are called k.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce.labels import ComplementaryLabels
from scarce.metrics.checks import check_priors, predicted_codes
from scarce.metrics.intervals import wilson_interval

__all__ = ["AccuracyEstimate", "complementary_accuracy"]


@dataclass(frozen=True)
class AccuracyEstimate:
    """An accuracy estimated without true labels.

    Attributes
    ----------
    value : float
        The estimate; unbiased, so that a small sample may put it below 0 or above 1.
    standard_error : float
        Its standard deviation over samples of this size.
    low, high : float
        Bounds of the confidence interval of the given level.
    level : float
        The level of the interval.
    unseen : tuple
        Classes that were predicted but that no example excludes: wrong predictions of them go unnoticed.
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
    predicted: Any, labels: ComplementaryLabels, priors: Any, *, level: float = 0.95
) -> AccuracyEstimate:
    """Estimate the accuracy of predictions from complementary labels: 1 − Σ_k (1 − π_k) a_k.

    a_k is the share of the examples excluding k that are predicted k. The standard error is that of a sum over
    independent examples, which for one label per example is √(Σ_k (1 − π_k)² a_k (1 − a_k) / n_k). The interval joins
    the Wilson intervals of the a_k, so that it stays honest when an a_k is 0 or few examples exclude k.

    Parameters
    ----------
    predicted : array of n class names
        Of a classifier that has not seen these labels.
    labels : ComplementaryLabels
        Of the same examples.
    priors : array of q numbers
        π.
    level : float
        Of the confidence interval.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1, 1, 0], classes=2)
    >>> complementary_accuracy([1, 0, 1, 1], labels, [0.5, 0.5]).value
    0.75
    """
    codes = predicted_codes(predicted, labels)
    others = 1 - check_priors(priors, labels)
    rows = np.repeat(np.arange(labels.n_examples), labels.per_example)
    wrong = codes[rows] == labels.indices
    errors = np.bincount(labels.indices[wrong], minlength=labels.n_classes).astype(float)
    counts = labels.counts.astype(float)
    share = errors / np.maximum(counts, 1)
    value = 1 - float(others @ share)

    weight = others / np.maximum(counts, 1)
    influence = np.bincount(rows, weight[labels.indices] * (wrong - share[labels.indices]), labels.n_examples)
    low, high = wilson_interval(errors, counts, level)
    unseen = (counts == 0) & np.isin(np.arange(labels.n_classes), codes)
    low, high = np.where(counts == 0, 0.0, low), np.where((counts == 0) & ~unseen, 0.0, high)
    return AccuracyEstimate(
        value=value,
        standard_error=float(np.sqrt((influence**2).sum())),
        low=float(np.clip(value - np.sqrt(((others * (high - share)) ** 2).sum()), 0, 1)),
        high=float(np.clip(value + np.sqrt(((others * (share - low)) ** 2).sum()), 0, 1)),
        level=level,
        unseen=tuple(labels.classes[unseen].tolist()),
    )
