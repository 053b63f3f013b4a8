"""Logistic regression by the likelihood of candidate sets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce._arrays import FloatArray
from scarce.bench.baselines.base import Scaler
from scarce.estimators.auto.linear_likelihood import fit_linear
from scarce.estimators.auto.mechanisms import CandidateSets
from scarce.labels import ComplementaryLabels

__all__ = ["EMLogisticRegression"]

_C_DENSE, _C_SPARSE = 1.0, 10.0


class EMLogisticRegression:
    """A linear model p = softmax(W x + b), fitted by full-batch L-BFGS.

        loss = −Σ_i log Σ_{y ∈ S_i} p_iy + ‖W‖² / 2C

    S_i is the candidate set of row i. C is 1, and 10 for sparse features. Expectation maximization has the same minima,
    which gives the method its name.

    See Also
    --------
    PLkNN : Nearest neighbors.

    References
    ----------
    R. Jin and Z. Ghahramani, "Learning with multiple labels", NeurIPS 2002,
    https://proceedings.neurips.cc/paper/2002/hash/653ac11ca60b3e021a8c609c7198acfc-Abstract.html

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> labels = ComplementaryLabels.from_single([1, 1, 0, 0], classes=2)
    >>> EMLogisticRegression().fit(X, labels).predict(X).tolist()
    [0, 0, 1, 1]
    """

    def fit(self, X: Any, labels: ComplementaryLabels) -> Self:
        """Minimize the loss over features X of shape (n, d)."""
        self._scale = Scaler(X)
        C = _C_SPARSE if sparse.issparse(X) else _C_DENSE
        log_likelihood = CandidateSets().log_likelihood(labels)
        linear = fit_linear(self._scale(X).astype(np.float32), log_likelihood, C).output
        self._weights, self._bias = linear.weight.double().numpy().T, linear.bias.double().numpy()
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the most probable class of each row."""
        scores: FloatArray = self._scale(X) @ self._weights + self._bias
        return scores.argmax(axis=1)  # type: ignore[no-any-return]
