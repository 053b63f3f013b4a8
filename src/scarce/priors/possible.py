"""Class priors where none can be estimated: what the labels themselves leave possible."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.priors.base import _FEWEST
from scarce.priors.estimate import FloatArray, PriorEstimate
from scarce.priors.simplex import to_simplex

__all__ = ["candidate_shares", "classes_without_evidence", "possible_priors"]


def candidate_shares(labels: ComplementaryLabels) -> FloatArray:
    """Return the mean over examples of 1[k ∈ S] / |S|, S being the classes that an example may still be.

    A confirmed class is the only candidate of its example.

    Parameters
    ----------
    labels : ComplementaryLabels
        What is known.

    Returns
    -------
    array of shape (q,)
        Shares that sum to one.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["cat", "cow"]], classes=["cat", "cow", "dog"])
    >>> candidate_shares(labels).tolist()
    [0.0, 0.25, 0.75]
    """
    q, known = labels.n_classes, labels.confirmed >= 0
    weights = np.where(known, 0.0, 1 / (q - labels.per_example))
    lost = np.bincount(labels.indices, np.repeat(weights, labels.per_example), q)
    total = weights.sum() - lost + np.bincount(labels.confirmed[known], minlength=q)
    shares: FloatArray = np.where(labels.counts == labels.n_examples, 0.0, total) / labels.n_examples
    return shares


def possible_priors(labels: ComplementaryLabels) -> PriorEstimate:
    """Return the candidate shares, none above what the exclusions of its class allow: π_k ≤ 1 − π̄_k.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["cat", "cow"]], classes=["cat", "cow", "dog"])
    >>> possible_priors(labels).values.round(3).tolist()
    [0.0, 0.25, 0.75]
    """
    shares = candidate_shares(labels)
    return PriorEstimate(to_simplex(shares, labels.rates), "candidate shares", shares, classes=labels.classes)


def classes_without_evidence(labels: ComplementaryLabels) -> NDArray[Any]:
    """Return the classes that too few examples exclude, or leave possible, for their priors to be estimated.

    Examples
    --------
    >>> classes_without_evidence(ComplementaryLabels.from_single([0] * 50 + [1] * 50, classes=3)).tolist()
    [2]
    """
    fewest = np.minimum(labels.counts, labels.n_examples - labels.counts)
    return labels.classes[fewest < _FEWEST]
