"""Ordinary labels: one true class per example, as in scikit-learn."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from scarce._arrays import Array
from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels


def read_ordinary(y: Any) -> tuple[ComplementaryLabels, Array]:
    """Return labels that exclude all classes but the true one, and the sorted classes with the dtype of `y`.

    Examples
    --------
    >>> labels, classes = read_ordinary(["dog", "cat", "cow"])
    >>> classes.tolist(), labels.indicator(dtype=int).tolist()
    (['cat', 'cow', 'dog'], [[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    """
    if y is None:
        raise LabelError("requires y to be passed, but the target y is None; pass one class per example.")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y)
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise LabelError(
            f"y holds only one class, {classes[0]!s}; expected at least two classes: add examples of another."
        )
    return ComplementaryLabels.from_ordinary(y, classes), classes
