"""PL-kNN: the nearest neighbors vote with their candidate sets."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from scarce.bench.baselines.base import Scaler, candidate_weights
from scarce.labels import ComplementaryLabels

__all__ = ["PLkNN"]


class PLkNN:
    """The class with the most votes among the nearest training rows.

        ŷ(x) = argmax_y Σ_{i ∈ N_k(x)} w_iy,     w_iy = 1[y ∈ S_i] / |S_i|

    N_k are the k nearest rows by Euclidean distance; among ties the first class wins.

    Parameters
    ----------
    k : int
        The number of neighbors; all rows if there are fewer.

    See Also
    --------
    EMLogisticRegression : A linear model.

    References
    ----------
    E. Hüllermeier and J. Beringer, "Learning from ambiguously labeled examples", IDA 2005, https://doi.org/10.1007/11552253_16

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[2], [1], [0]], classes=3)  # candidates {0, 1}, {0, 2}, {1, 2}
    >>> PLkNN(k=2).fit(np.array([[0.0], [1.0], [9.0]]), labels).predict(np.array([[0.4]])).tolist()
    [0]
    """

    def __init__(self, k: int = 10) -> None:
        self.k = k

    def fit(self, X: Any, labels: ComplementaryLabels) -> Self:
        """Store the rows X of shape (n, d) and their candidate sets."""
        self._scale, self._weights = Scaler(X), candidate_weights(labels)
        self._rows = NearestNeighbors(n_neighbors=min(self.k, len(self._weights))).fit(self._scale(X))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class of each row with the most votes."""
        near = self._rows.kneighbors(self._scale(X), return_distance=False)
        return self._weights[near].sum(axis=1).argmax(axis=1)  # type: ignore[no-any-return]
