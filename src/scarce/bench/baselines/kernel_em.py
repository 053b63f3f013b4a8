"""Kernel ridge regression that reweights candidate labels by its own predictions."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist

from scarce._arrays import FloatArray
from scarce.bench.baselines.base import Scaler, candidate_weights, check_dense
from scarce.labels import ComplementaryLabels

_ROUNDS, _RIDGE = 10, 1.0


def reweight(candidates: FloatArray, predicted: FloatArray) -> FloatArray:
    """w_iy ∝ 1[y ∈ S_i] max(f_iy, 0), the candidates weighted by predictions; `candidates` if all weights are zero.

    Parameters
    ----------
    candidates : array of shape (n, q)
        The normalized candidate sets.
    predicted : array of shape (n, q)
        The predictions f.

    Examples
    --------
    >>> candidates = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    >>> reweight(candidates, np.array([[0.6, 0.2, 0.9], [-0.1, 0.4, -0.2]])).round(2).tolist()
    [[0.75, 0.25, 0.0], [0.5, 0.0, 0.5]]
    """
    kept = np.where(candidates > 0, predicted.clip(min=0), 0)
    totals = kept.sum(axis=1, keepdims=True)
    return np.where(totals > 0, kept / np.where(totals > 0, totals, 1), candidates)


class KernelEM:
    """Kernel ridge regression on candidate weights, with ten rounds of updates.

        A = (K + I)⁻¹ W,     f(x) = k(x)ᵀ A,     W ← `reweight` (W₀, K A)

    K_ij = exp(−γ ‖x_i − x_j‖²), γ = 1 / median squared distance, and W starts as the normalized candidate sets W₀.

    See Also
    --------
    SoftForest : A random forest on the same weights.

    Examples
    --------
    >>> X = np.repeat([[-1.0], [1.0]], 10, axis=0)
    >>> labels = ComplementaryLabels.from_single([1] * 10 + [0] * 10, classes=2)
    >>> KernelEM().fit(X, labels).predict(np.array([[-1.0], [1.0]])).tolist()
    [0, 1]
    """

    def fit(self, X: Any, labels: ComplementaryLabels) -> Self:
        """Alternate between regression and weights; X has shape (n, d)."""
        check_dense("kernel-em", X)
        self._scale = Scaler(X)
        self._rows = self._scale(X)
        self._gamma = 1 / (np.median(pdist(self._rows, "sqeuclidean")) or 1.0)
        kernel = self._kernel(self._rows)
        factor = cho_factor(kernel + _RIDGE * np.eye(len(kernel)))
        weights = candidates = candidate_weights(labels)
        for _ in range(_ROUNDS):
            self._coefficients = cho_solve(factor, weights)
            weights = reweight(candidates, kernel @ self._coefficients)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each row with the highest prediction."""
        scores: FloatArray = self._kernel(self._scale(X)) @ self._coefficients
        return scores.argmax(axis=1)  # type: ignore[no-any-return]

    def _kernel(self, X: Any) -> FloatArray:
        kernel: FloatArray = np.exp(-self._gamma * cdist(X, self._rows, "sqeuclidean"))
        return kernel
