"""A random forest that is fitted to normalized candidate sets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from scarce.bench.baselines.base import Scaler, candidate_weights, check_dense
from scarce.labels import ComplementaryLabels

__all__ = ["SoftForest"]

_N_TREES = 100


class SoftForest:
    """The mean of 100 regression trees for all classes at once.

        f = argmin Σ_i ‖f(x_i) − w_i‖²,     w_iy = 1[y ∈ S_i] / |S_i|,     ŷ(x) = argmax_y f_y(x)

    Parameters
    ----------
    seed : int
        The seed of the rows of each tree.

    See Also
    --------
    KernelEM : Kernel ridge regression on the same weights, which it updates.

    Examples
    --------
    >>> X = np.repeat([[-1.0], [1.0]], 10, axis=0)
    >>> labels = ComplementaryLabels.from_single([1] * 10 + [0] * 10, classes=2)
    >>> SoftForest().fit(X, labels).predict(np.array([[-1.0], [1.0]])).tolist()
    [0, 1]
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: Any, labels: ComplementaryLabels) -> Self:
        """Grow the trees on features X of shape (n, d)."""
        check_dense("rf-soft", X)
        self._scale = Scaler(X)
        forest = RandomForestRegressor(_N_TREES, random_state=self.seed)
        self._forest = forest.fit(self._scale(X), candidate_weights(labels))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each row with the highest mean."""
        return self._forest.predict(self._scale(X)).argmax(axis=1)  # type: ignore[no-any-return]
