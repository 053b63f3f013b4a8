"""Feature maps of a table: scaled columns, and Nyström features of a Gaussian kernel."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from scarce.features.arrays import column_statistics
from scarce.models import Linear, NystroemFeatures, ScaleColumns

__all__ = ["Features", "Kind", "make_features", "predict_probabilities"]

Kind = Literal["columns", "kernel"]

_MAX_DEVIATIONS = 6.0  # columns are clipped to this many standard deviations
_N_LANDMARKS = 250
_CHUNK_VALUES = 2**22  # converted to dense at a time
_MAX_DENSE_VALUES = 2**24  # a smaller sparse matrix is converted to dense for networks


@dataclass(frozen=True)
class Features:
    """The features of a table in the forms that learners use.

    Attributes
    ----------
    columns : tensor or sparse matrix of shape (n, d)
        Scaled columns: dense columns are standardized and clipped to ± 6; sparse columns share one scale, which makes the
        root mean square of the row norms 1.
    scaling : ScaleColumns
        The layer that scales raw inputs like this.
    kernel_layer : NystroemFeatures or None
        The layer from scaled columns to kernel features; None for sparse data.
    """

    columns: Any
    scaling: ScaleColumns
    kernel_layer: NystroemFeatures | None

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are sparse."""
        return bool(sparse.issparse(self.columns))

    @cached_property
    def kernel(self) -> Tensor:
        """Kernel features of shape (n, m)."""
        assert self.kernel_layer is not None
        return torch.cat([self.kernel_layer(chunk) for chunk in self.columns.split(4096)])

    @cached_property
    def dense(self) -> Any:
        """The columns as a tensor; large sparse columns stay sparse."""
        is_small = self.is_sparse and np.prod(self.columns.shape, dtype=float) <= _MAX_DENSE_VALUES
        return torch.from_numpy(self.columns.toarray()) if is_small else self.columns

    def matrix(self, kind: Kind) -> Any:
        """Return the matrix that a learner of this kind is trained on."""
        return self.kernel if kind == "kernel" else self.columns

    def take(self, rows: NDArray[np.int64]) -> "Features":
        """Return the features of the rows with these indices."""
        return Features(self.columns[rows], self.scaling, self.kernel_layer)

    def model(self, kind: Kind, head: nn.Module) -> nn.Sequential:
        """Return a model from raw inputs to logits, around a head that was fitted to features of this kind."""
        layers: list[nn.Module] = [self.scaling]
        if kind == "kernel":
            assert self.kernel_layer is not None
            layers.append(self.kernel_layer)
        return nn.Sequential(*layers, head)


def make_features(X: Any, seed: int = 0) -> Features:
    """Return the features of a table (n, d); the statistics of the columns are computed over all rows in float64.

    Examples
    --------
    >>> features = make_features(np.array([[1.7e9, 1.0], [1.7e9 + 2, 1.0]]))
    >>> features.columns.tolist()  # the second column is constant
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    d = X.shape[1]
    if sparse.issparse(X):
        matrix = sparse.csr_matrix(X, dtype=np.float64)
        norm = np.sqrt(matrix.multiply(matrix).sum() / max(1, matrix.shape[0])) or 1.0
        scaling = ScaleColumns(torch.zeros(d), torch.full((d,), 1 / norm, dtype=torch.float64))
        return Features((matrix / norm).astype(np.float32).tocsr(), scaling, None)
    mean, deviation = column_statistics(X)
    varies = deviation > np.finfo(np.float64).eps * 8 * np.abs(mean)
    factor = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies)
    scaling = ScaleColumns(torch.from_numpy(mean), torch.from_numpy(factor), _MAX_DEVIATIONS)
    chunk = max(1, _CHUNK_VALUES // max(1, d))
    chunks = [
        scaling(torch.from_numpy(np.array(X[start : start + chunk], np.float64)))
        for start in range(0, X.shape[0], chunk)
    ]
    columns = torch.cat(chunks)
    return Features(columns, scaling, _kernel_layer(columns, seed))


def predict_probabilities(head: nn.Module, matrix: Any) -> NDArray[np.float64]:
    """Return the class probabilities (n, q) of a head for a matrix of features (n, d), in chunks.

    Examples
    --------
    >>> predict_probabilities(Linear((2,), 4), np.zeros((3, 2), np.float32)).shape
    (3, 4)
    """
    step = max(1, _CHUNK_VALUES // max(1, matrix.shape[1]))
    probabilities = []
    with torch.no_grad():
        for start in range(0, matrix.shape[0], step):
            rows = matrix[start : start + step]
            if sparse.issparse(rows) and isinstance(head, Linear):
                logits = torch.from_numpy(rows @ head.output.weight.numpy().T) + head.output.bias
            else:
                logits = head(torch.as_tensor(rows.toarray() if sparse.issparse(rows) else rows))
            probabilities.append(torch.softmax(logits.double(), dim=1))
    return torch.cat(probabilities).numpy()


def _kernel_layer(columns: Tensor, seed: int) -> NystroemFeatures:
    """Return Nyström features with random rows as landmarks, and γ = 1 / median squared distance between these."""
    chosen = np.random.default_rng(seed).permutation(len(columns))[:_N_LANDMARKS]
    landmarks = columns[chosen]
    distances = torch.cdist(landmarks.double(), landmarks.double()) ** 2
    positive = distances[distances > 0]
    gamma = 1 / float(positive.median()) if len(positive) else 1.0
    return NystroemFeatures.from_landmarks(landmarks, gamma)
