"""What every estimator of a share asks of the samples it is given."""

from typing import Any

import numpy as np

from scarce.errors import FeatureError, PriorError, ScarceError
from scarce.priors.estimate import FloatArray

__all__ = ["check_features", "check_numbers", "check_paired_features"]

_LARGEST = 1e150  # the square of anything larger may be infinite


def check_numbers(values: Any, what: str) -> FloatArray:
    """Return a list of finite numbers, at least one; `what` they are is for the message.

    Examples
    --------
    >>> check_numbers([], "the scores of positives")
    Traceback (most recent call last):
    scarce.errors.PriorError: the scores of positives have shape (0,); expected at least one number.
    """
    numbers = _finite(values, what, PriorError)
    if numbers.ndim != 1 or not numbers.size:
        raise PriorError(f"{what} have shape {numbers.shape}; expected at least one number.")
    return numbers


def check_features(values: Any, what: str) -> FloatArray:
    """Return a matrix of finite numbers, at least one row and one column.

    Examples
    --------
    >>> check_features([1.0, 2.0], "the features of positives")
    Traceback (most recent call last):
    scarce.errors.FeatureError: the features of positives have shape (2,); expected rows × columns, at least one of each.
    """
    matrix = _finite(values, what, FeatureError)
    if matrix.ndim != 2 or not matrix.size:
        raise FeatureError(
            f"{what} have shape {matrix.shape}; expected rows × columns, at least one of each."
        )
    return matrix


def check_paired_features(positive: Any, unlabeled: Any) -> tuple[FloatArray, FloatArray]:
    """Return the features of both samples, with the same columns.

    Examples
    --------
    >>> check_paired_features([[1.0]], [[1.0, 2.0]])
    Traceback (most recent call last):
    scarce.errors.FeatureError: positives have 1 columns and unlabelled rows 2; expected the same features.
    """
    positive = check_features(positive, "the features of positives")
    unlabeled = check_features(unlabeled, "the features of unlabelled rows")
    if positive.shape[1] != unlabeled.shape[1]:
        raise FeatureError(
            f"positives have {positive.shape[1]} columns and unlabelled rows {unlabeled.shape[1]}; "
            "expected the same features."
        )
    return positive, unlabeled


def _finite(values: Any, what: str, error: type[ScarceError]) -> FloatArray:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise error(f"{what} are no array of numbers; expected a dense one.") from None
    if not (np.abs(array) < _LARGEST).all():
        odd = array[~(np.abs(array) < _LARGEST)].flat[0]
        raise error(f"{what} hold {odd:g}; expected finite numbers: fill in or drop what is missing.")
    return array
