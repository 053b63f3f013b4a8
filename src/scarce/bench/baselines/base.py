"""What the baselines share: normalized candidate sets and standardized columns."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from scarce._arrays import FloatArray
from scarce.errors import FeatureError
from scarce.labels import ComplementaryLabels

__all__ = ["Baseline", "Scaler", "candidate_weights", "check_dense"]


class Baseline(Protocol):
    """A classifier that learns from candidate sets.

    See Also
    --------
    BASELINES : The baselines by name.

    Examples
    --------
    >>> from scarce.bench.baselines import BASELINES
    >>> labels = ComplementaryLabels.from_single([1, 1, 0, 0], classes=2)
    >>> baseline = BASELINES["em-lr"](0).fit(np.array([[-2.0], [-1.0], [1.0], [2.0]]), labels)
    >>> baseline.predict(np.array([[-3.0], [3.0]])).tolist()
    [0, 1]
    """

    def fit(self, X: Any, labels: ComplementaryLabels) -> Self:
        """Fit features X of shape (n, d) and the complementary labels of their n rows."""

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the index of the predicted class of each row, of shape (n,)."""


def candidate_weights(labels: ComplementaryLabels) -> FloatArray:
    """w_iy = 1[y ∈ S_i] / |S_i|, the normalized candidate sets, of shape (n, q).

    Examples
    --------
    >>> candidate_weights(ComplementaryLabels.from_lists([[0], [0, 1]], classes=3)).tolist()
    [[0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
    """
    candidates = 1.0 - labels.indicator(dtype=np.float64)
    weights: FloatArray = candidates / candidates.sum(axis=1, keepdims=True)
    return weights


def check_dense(name: str, X: Any) -> None:
    """Raise if the features are sparse.

    Examples
    --------
    >>> check_dense("rf-soft", sparse.csr_matrix([[1.0]]))
    Traceback (most recent call last):
    scarce.errors.FeatureError: rf-soft got sparse features; expected a dense table: use pl-knn or em-lr for texts.
    """
    if sparse.issparse(X):
        raise FeatureError(
            f"{name} got sparse features; expected a dense table: use pl-knn or em-lr for texts."
        )


class Scaler:
    """Standardize dense columns by the mean and deviation of the training rows; sparse columns are not changed.

    Examples
    --------
    >>> Scaler(np.array([[1.0], [3.0]]))(np.array([[5.0]])).tolist()
    [[3.0]]
    """

    def __init__(self, X: Any) -> None:
        self._scaler = None if sparse.issparse(X) else StandardScaler().fit(X)

    def __call__(self, X: Any) -> Any:
        """Return the columns on the scale of the training rows."""
        return X if self._scaler is None else self._scaler.transform(X)
