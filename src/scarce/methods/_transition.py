"""Transition matrices p(k is excluded | true class y): given, uniform, or counted on examples with a confirmed class."""

from typing import Any

import numpy as np

from scarce._arrays import Array, FloatArray
from scarce._validation import abbreviate, check_option, check_transition
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.simulate import uniform_transition

_SUM_TOLERANCE = 1e-3  # matrices typed with three decimals


def resolve_transition(transition: Any, labels: ComplementaryLabels) -> FloatArray | None:
    """Check what a user passed as `transition`, and return the matrix; None stays None.

    Parameters
    ----------
    transition : {"uniform", "confirmed"}, array of shape (q, q), or None
        ``"uniform"``: every wrong class has the same probability. ``"confirmed"``: count the exclusions of the examples whose
        class is confirmed by a "yes" answer or an ordinary label. An array has one row per true class.
    labels : ComplementaryLabels
        The labels.

    Returns
    -------
    array of shape (q, q), or None

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=3)
    >>> resolve_transition("uniform", labels).tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    q = labels.n_classes
    if transition is None:
        return None
    if isinstance(transition, str):
        check_option("transition", transition, ("uniform", "confirmed"), also=f"a {q} × {q} matrix")
        return uniform_transition(q) if transition == "uniform" else _count_transition(labels)
    return check_excludes_others(transition, labels.classes)


def check_excludes_others(transition: Any, classes: Array) -> FloatArray:
    """Return a q × q matrix with rows that sum to one, none of which excludes its own class most often.

    Examples
    --------
    >>> check_excludes_others(np.eye(2), np.array(["cat", "dog"]))
    Traceback (most recent call last):
    scarce.errors.MethodError: row 0 of transition excludes the true class most often (probability 1); it must hold ...
    """
    matrix = check_transition(transition, classes, tolerance=_SUM_TOLERANCE)
    excludes_itself = np.diagonal(matrix) >= (matrix * (1 - np.eye(len(classes)))).max(axis=1)
    if excludes_itself.any():
        row = int(np.argmax(excludes_itself))
        raise MethodError(
            f"row {row} of transition excludes the true class most often (probability {matrix[row, row]:.3g}); "
            "it must hold p(k is excluded | true class), not p(k | true class)."
        )
    normalized: FloatArray = matrix / matrix.sum(axis=1, keepdims=True)
    return normalized


def _count_transition(labels: ComplementaryLabels) -> FloatArray:
    counts = np.zeros((labels.n_classes, labels.n_classes))
    confirmed = np.repeat(labels.confirmed, labels.per_example)
    np.add.at(counts, (confirmed[confirmed >= 0], labels.indices[confirmed >= 0]), 1)
    empty = counts.sum(axis=1) == 0
    if empty.any():
        raise MethodError(
            f"transition='confirmed' needs confirmed examples of every class that exclude another class; there are none of "
            f"{abbreviate(labels.classes[empty])}. Pass the matrix itself, or transition='uniform'."
        )
    frequencies: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return frequencies
