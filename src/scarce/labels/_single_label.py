"""Detect whether examples have at most one label by design."""

import numpy as np

from scarce.labels.container import ComplementaryLabels

# If 5 examples with several labels are expected, the probability that none occurs is only exp(−5).
_MIN_EXPECTED_MULTIPLE = 5.0


def is_single_label(labels: ComplementaryLabels) -> bool:
    """Return whether examples have at most one excluded class by design, and not by chance.

    If every example excludes exactly one class, the labels are single; if any example excludes several, they are not. If examples
    exclude one class or none, the labels are single if independent exclusions with probabilities c_k = π̄_k / (1 − 1/q) would give
    more than five examples with several exclusions on average.

    Examples
    --------
    >>> is_single_label(ComplementaryLabels.from_lists([[0], [1], [2]] * 100 + [[]], classes=3))
    True
    >>> is_single_label(ComplementaryLabels.from_lists([[0], [1], []] * 100, classes=2))  # q = 2 allows no more
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
    p_none = np.exp(log_none.sum() - log_none)  # that no wrong class is excluded, by true class
    p_one = p_none * (odds.sum() - odds)
    return bool(labels.n_examples * (1 - p_none - p_one).mean() > _MIN_EXPECTED_MULTIPLE)
