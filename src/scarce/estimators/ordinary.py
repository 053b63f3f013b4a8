"""Ordinary labels as a special case: a true class excludes all the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels

__all__ = ["labels_of_ordinary"]


def labels_of_ordinary(y: Any) -> tuple[ComplementaryLabels, NDArray[Any]]:
    """Return labels in which every example excludes all classes but its own, and the sorted classes.

    On such labels, with the class frequencies as priors, the SCARCE risk is exactly the one-versus-rest risk.

    Examples
    --------
    >>> labels, classes = labels_of_ordinary(["dog", "cat", "cow"])
    >>> classes.tolist(), labels.indicator(dtype=int).tolist()
    (['cat', 'cow', 'dog'], [[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    """
    if y is None:
        raise LabelError("requires y to be passed, but the target y is None; pass one class per example.")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise LabelError(f"y holds only one class, {classes[0]!s}; a classifier needs at least two classes.")
    others = np.arange(len(classes) - 1, dtype=np.int32)
    excluded = others + (others >= codes[:, None])  # 0 to q − 1 without the own class; no n × q detour
    indptr = np.arange(len(y) + 1) * len(others)
    return ComplementaryLabels(indptr, excluded.ravel(), classes), classes
