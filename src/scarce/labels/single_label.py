"""Whether every example has one label by design, or zero or more."""

import numpy as np

from scarce.labels.container import ComplementaryLabels

__all__ = ["is_single_label"]

_MIN_EXPECTED_MULTIPLE = 5.0  # examples with several labels that would be expected; none by chance then has the probability exp(−5)


def is_single_label(labels: ComplementaryLabels) -> bool:
    """Return whether examples were given one excluded class, or none at all, rather than zero or more.

    They were if each has exactly one. If some have none and no example has two, they were if independent exclusions, with
    c_k = π̄_k / (1 − 1/q) for every wrong class, would have left several examples with two.

    Examples
    --------
    >>> is_single_label(ComplementaryLabels.from_lists([[0], [1], [2]] * 100 + [[]], classes=3))
    True
    >>> is_single_label(ComplementaryLabels.from_lists([[0], [1], []] * 100, classes=2))  # of two classes one is left
    False
    """
    n_labels = labels.per_example
    if n_labels.max(initial=0) != 1 or n_labels.min() == 1:
        return bool(n_labels.max(initial=0) == 1)
    exclusion_probabilities = np.minimum(labels.rates / (1 - 1 / labels.n_classes), 1 - 1e-12)
    odds, log_none = (
        exclusion_probabilities / (1 - exclusion_probabilities),
        np.log1p(-exclusion_probabilities),
    )
    p_none = np.exp(log_none.sum() - log_none)  # of the wrong classes, by the true one
    p_one = p_none * (odds.sum() - odds)
    return bool(labels.n_examples * (1 - p_none - p_one).mean() > _MIN_EXPECTED_MULTIPLE)
