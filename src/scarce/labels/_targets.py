"""Convert the `y` of scikit-learn: labels or their n × q indicator, but never a single column."""

from typing import Any

import numpy as np
from scipy import sparse

from scarce._validation import abbreviate
from scarce.errors import LabelError
from scarce.labels.container import ComplementaryLabels


def as_labels(y: Any, classes: Any = None) -> ComplementaryLabels:
    """Return `y` as complementary labels; an n × q matrix, dense or sparse, is read as an indicator.

    Parameters
    ----------
    y : ComplementaryLabels, or array, DataFrame or sparse matrix of shape (n, q)
        The labels; in a matrix, 1 means "not this class".
    classes : sequence of length q, optional
        The expected classes, in order; by default those of the labels, or the column names of a DataFrame.

    Returns
    -------
    ComplementaryLabels
        The labels.

    Examples
    --------
    >>> as_labels([[0, 1], [1, 0]])
    ComplementaryLabels(n_examples=2, n_classes=2, n_exclusions=2)
    >>> as_labels([1, 0])
    Traceback (most recent call last):
    scarce.errors.LabelError: y has one dimension. For single complementary labels use
    ComplementaryLabels.from_single(y, classes); for ordinary labels pass labels='ordinary'.
    """
    if isinstance(y, ComplementaryLabels):
        if classes is not None and not np.array_equal(y.classes.astype(str), np.asarray(classes).astype(str)):
            raise LabelError(
                f"the labels have the classes {abbreviate(y.classes)}, expected {abbreviate(classes)} in this order; "
                "make them with classes=[...]."
            )
        return y
    if y is None:
        raise LabelError(
            "requires y to be passed, but the target y is None; pass ComplementaryLabels or an n × q indicator."
        )
    if classes is None and all(isinstance(name, str) for name in getattr(y, "columns", [None])):
        classes = y.columns
    if not sparse.issparse(y):
        y = np.asarray(y)
        if y.ndim < 2 or y.shape[1] == 1:
            raise LabelError(
                f"y has {'one dimension' if y.ndim < 2 else 'one column'}. For single complementary labels use "
                "ComplementaryLabels.from_single(y, classes); for ordinary labels pass labels='ordinary'."
            )
    return ComplementaryLabels.from_indicator(y, classes)
