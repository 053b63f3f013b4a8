"""Whether predicted probabilities can be believed: of what is predicted with 80 %, 80 % should be right.

The one metric here that needs true classes: a model trained from complementary labels is judged by it on test data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import FloatArray, IntArray
from scarce._validation import check_integer
from scarce.errors import LabelError
from scarce.simulate._truth import Classes, read_truth

__all__ = ["Reliability", "expected_calibration_error", "reliability"]

_MOST_BINS = 1000
_ROUNDING = 1e-3  # probabilities written with three decimals


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and accuracy of predictions, in bins of equal width over the confidence.

    Attributes
    ----------
    confidence : array of shape (bins,)
        The mean of the highest probability of the examples in each bin; NaN in an empty one.
    accuracy : array of shape (bins,)
        The share of them whose most probable class is the true one; NaN in an empty one.
    counts : array of shape (bins,)
        How many examples there are.

    Examples
    --------
    >>> Reliability(np.array([np.nan, 0.75]), np.array([np.nan, 0.5]), np.array([0, 4])).expected_error
    0.25
    """

    confidence: FloatArray
    accuracy: FloatArray
    counts: IntArray

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ_b (n_b / n) |accuracy_b − confidence_b|."""
        gaps = np.abs(self.accuracy - self.confidence)
        return float(np.nansum(self.counts * gaps) / self.counts.sum())


def reliability(probabilities: Any, y: Any, bins: int = 15, *, classes: Classes = None) -> Reliability:
    """Compare the confidence max_k p_k with how often arg max_k p_k is right, bin by bin.

    Of B bins, the b-th holds the confidences in ((b − 1) / B, b / B].

    Parameters
    ----------
    probabilities : array of shape (n, q)
        Of a classifier that has not seen these examples; rows sum to one.
    y : array of n class names
        The true classes.
    bins : int
        How many bins there are.
    classes : int or sequence, optional
        The class of each column, in order; by default the numbers 0 to q − 1.

    Returns
    -------
    Reliability
        Mean confidence, accuracy and count of each bin.

    Examples
    --------
    >>> curve = reliability([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]], ["cat", "dog", "dog"], 2, classes=["cat", "dog"])
    >>> curve.counts.tolist(), curve.confidence.round(3).tolist(), curve.accuracy.round(3).tolist()
    ([0, 3], [nan, 0.733], [nan, 0.667])
    """
    bins = check_integer("bins", bins, 1, _MOST_BINS)
    matrix = _matrix(probabilities)
    truth = read_truth(y, matrix.shape[1] if classes is None else classes)
    expected = (len(truth.codes), truth.n_classes)
    if matrix.shape != expected:
        raise LabelError(
            f"the probabilities have shape {matrix.shape}; expected {expected}: a row for each true class in y, "
            "a column for each of classes."
        )
    _refuse_no_distribution(matrix)
    highest = np.minimum(matrix.max(axis=1), 1)
    right = matrix.argmax(axis=1) == truth.codes
    place = np.searchsorted(np.arange(1, bins) / bins, highest)
    counts = np.bincount(place, minlength=bins)
    members = np.where(counts > 0, counts, np.nan)
    return Reliability(
        confidence=np.bincount(place, highest, bins) / members,
        accuracy=np.bincount(place, right, bins) / members,
        counts=counts,
    )


def expected_calibration_error(
    probabilities: Any, y: Any, bins: int = 15, *, classes: Classes = None
) -> float:
    """Return Σ_b (n_b / n) |accuracy_b − confidence_b| over the bins of `reliability`; 0 is best, 1 worst.

    Examples
    --------
    >>> round(expected_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    """
    return reliability(probabilities, y, bins, classes=classes).expected_error


def _matrix(probabilities: Any) -> FloatArray:
    try:
        on_cpu = probabilities.detach().cpu() if hasattr(probabilities, "detach") else probabilities
        matrix = np.asarray(on_cpu, float)
    except (OverflowError, TypeError, ValueError):
        raise LabelError(
            "the probabilities are no matrix of numbers; expected a row per example and a column per class."
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise LabelError(
            f"the probabilities have shape {matrix.shape}; expected a row per example and a column per class "
            "(np.column_stack([1 - p, p]) for two classes)."
        )
    return matrix


def _refuse_no_distribution(matrix: FloatArray) -> None:
    odd = ~(matrix >= 0).all(axis=1)  # also where there is NaN
    if odd.any():
        row = int(np.argmax(odd))
        raise LabelError(
            f"row {row}: the lowest probability is {matrix[row].min():.4g}; expected numbers from 0 to 1 "
            "(predict_proba gives them, decision_function does not)."
        )
    sums = matrix.sum(axis=1)
    if (abs(sums - 1) > _ROUNDING).any():
        row = int(np.argmax(abs(sums - 1) > _ROUNDING))
        raise LabelError(
            f"row {row}: the probabilities sum to {sums[row]:.4g}; expected 1. Divide each row by its sum."
        )
