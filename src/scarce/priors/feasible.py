"""Class priors where none can be estimated: what the labels themselves leave possible."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.labels.candidate_shares import candidate_shares
from scarce.priors.base import _FEWEST
from scarce.priors.estimate import PriorEstimate
from scarce.priors.simplex import to_simplex

__all__ = ["candidate_shares", "classes_without_evidence", "possible_priors"]


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
