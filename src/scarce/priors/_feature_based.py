"""Prior estimators that compare features directly, without training a model."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce._arrays import FloatArray
from scarce._validation import check_integer
from scarce.features.shards import Shards
from scarce.labels import ComplementaryLabels
from scarce.priors.base import MakeModel, PriorEstimator, identifiable_classes


@dataclass(frozen=True, kw_only=True)
class FeatureEstimator(PriorEstimator):
    """Base class of estimators that compare the features of rows that exclude a class with those of other rows.

    Images are flattened.

    Parameters
    ----------
    bootstrap : int
        Number of bootstrap resamples for intervals; 0 by default, because an estimate takes seconds per class.
    n_rows : int
        Maximum number of rows to use; more are subsampled at random.
    """

    bootstrap: int = 0
    n_rows: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("n_rows", self.n_rows, low=50)

    @abstractmethod
    def prior(self, features: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k from features of shape (m, d), which rows exclude k (some, but not all), and π̄_k."""

    def statistics(
        self,
        X: Any,
        labels: ComplementaryLabels,
        *,
        make_model: MakeModel | None,
        device: str,
        verbose: bool,
    ) -> tuple[list[FloatArray], NDArray[np.intp]]:
        """Return the features of at most `n_rows` rows as one table, and the indices of these rows."""
        order = np.random.default_rng(self.seed).permutation(labels.n_examples)[: self.n_rows]
        rows = np.sort(order)
        chosen: Any = X.take(rows) if isinstance(X, Shards) else X[rows]
        table = chosen.toarray() if sparse.issparse(X) else chosen.reshape(len(rows), -1)
        return [table.astype(np.float64)], rows

    def raw(self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return π_k of every class; NaN if it is not identifiable from these rows."""
        (features,) = statistics
        estimates = np.full(len(rates), np.nan)
        for k in identifiable_classes(excluded):
            estimates[k] = self.prior(features, excluded[:, k], rates[k])
        return estimates
