"""The share of each class in the candidate sets: a rough estimate of class priors from labels alone."""

import numpy as np
from numpy.typing import NDArray

from scarce.labels.container import ComplementaryLabels


def candidate_shares(labels: ComplementaryLabels) -> NDArray[np.float64]:
    """(1/n) Σ_i 1[k ∈ S_i] / |S_i|: return the mean share of each class k in the candidate sets S_i of the n examples.

    The candidates are the classes that are not excluded; a confirmed class is the only candidate of its example.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels of n examples and q classes.

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
    q, is_confirmed = labels.n_classes, labels.confirmed >= 0
    weights = np.where(is_confirmed, 0.0, 1 / (q - labels.per_example))
    excluded_weights = np.bincount(labels.indices, np.repeat(weights, labels.per_example), q)
    total = weights.sum() - excluded_weights + np.bincount(labels.confirmed[is_confirmed], minlength=q)
    shares: NDArray[np.float64] = np.where(labels.counts == labels.n_examples, 0.0, total) / labels.n_examples
    return shares
