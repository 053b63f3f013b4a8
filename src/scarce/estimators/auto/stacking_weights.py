"""Weights of a mixture of models that make held-out labels likely."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_likelihoods", "stacking_weights"]

# No class counts as less probable: one row would ruin a model that is certain and wrong.
_MIN_PROBABILITY = 1e-4


def label_likelihoods(probabilities: Any, log_likelihood: Any) -> NDArray[np.float64]:
    """Return Σ_y p_iy e^{E_iy} of every row, divided by the largest e^{E_iy} of the row, with p at min_weight 10⁻⁴.

    Examples
    --------
    >>> label_likelihoods([[0.2, 0.8], [0.5, 0.5]], [[0.0, -30.0], [0.0, 0.0]]).round(4).tolist()
    [0.2, 1.0]
    """
    e = np.asarray(log_likelihood, float)
    relative = np.exp(e - e.max(axis=1, keepdims=True))
    likelihoods: NDArray[np.float64] = (np.maximum(probabilities, _MIN_PROBABILITY) * relative).sum(axis=1)
    return likelihoods


def stacking_weights(likelihoods: Any, *, steps: int = 100, min_weight: float = 0.02) -> NDArray[np.float64]:
    """Return weights w_j ≥ 0 with Σ w = 1 that make Σ_i log Σ_j w_j L_ij large, by EM from equal weights.

    A step is w_j ← w_j mean_i L_ij / Σ_l w_l L_il. A limited number of steps keeps models of nearly equal likelihood
    together. Weights below `min_weight` become zero in the end.

    Parameters
    ----------
    likelihoods : array of shape (n, m)
        L_ij > 0, the likelihood of the labels of row i under model j, which has not seen them.
    steps : int
        EM steps.
    min_weight : float
        The smallest weight that is kept; the largest weight always is.

    Examples
    --------
    >>> stacking_weights([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], steps=1).round(3).tolist()
    [0.6, 0.4]
    >>> stacking_weights([[0.9, 0.1], [0.8, 0.2]]).tolist()
    [1.0, 0.0]
    """
    L = np.asarray(likelihoods, float)
    weights = np.full(L.shape[1], 1 / L.shape[1])
    for _ in range(steps):
        weights = weights * (L / (L @ weights)[:, None]).mean(axis=0)
    weights = np.where((weights >= min_weight) | (weights == weights.max()), weights, 0.0)
    normalized: NDArray[np.float64] = weights / weights.sum()
    return normalized
