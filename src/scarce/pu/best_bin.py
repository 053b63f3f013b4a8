"""Best Bin Estimation: what share of the unlabelled rows are positives, from scores of held-out rows."""

from typing import Any, NamedTuple

import numpy as np

from scarce.errors import PriorError

__all__ = ["BestBinResult", "best_bin"]


class BestBinResult(NamedTuple):
    """What `best_bin` found."""

    share: float
    """θ̂ = q̂_U(ẑ) / q̂_P(ẑ), at most 1."""
    bound: float
    """The upper confidence bound that ẑ minimises."""
    threshold: float
    """ẑ."""


def best_bin(positive: Any, unlabeled: Any, *, delta: float = 0.1, gamma: float = 0.01) -> BestBinResult:
    """Estimate the share θ of positives among unlabelled rows (Garg et al., 2021).

    With q̂_P(z) and q̂_U(z) the fractions of scores of at least z, and n_P, n_U how many there are,

        ẑ = argmin_z  q̂_U(z)/q̂_P(z) + (1 + γ)/q̂_P(z) · (√(ln(4/δ)/2n_P) + √(ln(4/δ)/2n_U)),    θ̂ = q̂_U(ẑ)/q̂_P(ẑ).

    Where the top of the scores holds positives only, the ratio is θ; the second term keeps the top from being too
    thin. Only the order of the scores matters.

    Parameters
    ----------
    positive, unlabeled : arrays
        Scores, high for "positive", of rows that the scorer was not trained on.
    delta, gamma : float
        Confidence and slack of the bound.

    Examples
    --------
    >>> best_bin([0.9, 0.8, 0.7, 0.6] * 100, [0.95, 0.75, 0.2, 0.1] * 100).share
    0.5
    """
    positive, unlabeled = (np.sort(np.asarray(scores, float)) for scores in (positive, unlabeled))
    n_p, n_u = len(positive), len(unlabeled)
    if n_p == 0 or n_u == 0:
        raise PriorError(f"best_bin got {n_p} positive and {n_u} unlabelled scores; expected some of each.")
    # Between two scores the fractions do not change, and below the lowest positive one only q_U grows.
    thresholds = np.unique(np.concatenate([positive, unlabeled[unlabeled >= positive[0]]]))
    thresholds = thresholds[thresholds <= positive[-1]]
    q_p = (n_p - np.searchsorted(positive, thresholds)) / n_p
    q_u = (n_u - np.searchsorted(unlabeled, thresholds)) / n_u
    width = np.sqrt(np.log(4 / delta) / (2 * n_p)) + np.sqrt(np.log(4 / delta) / (2 * n_u))
    bounds = (q_u + (1 + gamma) * width) / q_p
    best = int(np.argmin(bounds))
    share = min(float(q_u[best] / q_p[best]), 1.0)
    return BestBinResult(share, float(bounds[best]), float(thresholds[best]))
