"""Feasible class priors: what the labels themselves allow, for where priors cannot be estimated."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.labels.candidate_shares import candidate_shares
from scarce.priors.base import MIN_EXCLUSIONS
from scarce.priors.estimate import PriorEstimate
from scarce.priors.simplex import to_simplex

__all__ = ["candidate_shares", "feasible_priors", "unidentifiable_classes"]


def feasible_priors(labels: ComplementaryLabels) -> PriorEstimate:
    """Return the candidate shares, none above what the exclusions of its class allow: π_k ≤ 1 − π̄_k.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["cat", "cow"]], classes=["cat", "cow", "dog"])
    >>> feasible_priors(labels).values.round(3).tolist()
    [0.0, 0.25, 0.75]
    """
    shares = candidate_shares(labels)
    return PriorEstimate(to_simplex(shares, labels.rates), "candidate shares", shares, classes=labels.classes)


def unidentifiable_classes(labels: ComplementaryLabels) -> NDArray[Any]:
    """Return the classes that too few examples exclude, or leave possible, for their priors to be estimated.

    Examples
    --------
    >>> unidentifiable_classes(ComplementaryLabels.from_single([0] * 50 + [1] * 50, classes=3)).tolist()
    [2]
    """
    smaller_side = np.minimum(labels.counts, labels.n_examples - labels.counts)
    return labels.classes[smaller_side < MIN_EXCLUSIONS]
