"""Feature maps of a table: scaled columns, and Nyström features of the Gaussian kernel."""

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

_MAX_DEVIATIONS = 6.0  # standard deviations, at which columns are clipped
_N_LANDMARKS = 250
_CHUNK_VALUES = 2**22  # made dense at once
_MAX_DENSE_VALUES = 2**24  # a sparse matrix with fewer values is made dense for networks


@dataclass(frozen=True)
class Features:
    """The rows of a table as learners take them.

    Attributes
    ----------
    columns : tensor or sparse matrix of shape (n, d)
        Dense columns standardised and clipped to ± 6; sparse ones with one common scale, so that rows have norm 1 in the mean.
    scaling : ScaleColumns
        The layer that does this to raw inputs.
    kernel_layer : NystroemFeatures or None
        From scaled columns to kernel features; not for sparse data.
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
        """The columns as a tensor, unless they are sparse and too many numbers for that."""
        is_small = self.is_sparse and np.prod(self.columns.shape, dtype=float) <= _MAX_DENSE_VALUES
        return torch.from_numpy(self.columns.toarray()) if is_small else self.columns

    def matrix(self, kind: Kind) -> Any:
        """Return the matrix a learner of this kind takes."""
        return self.kernel if kind == "kernel" else self.columns

    def take(self, rows: NDArray[np.int64]) -> "Features":
        """Return the features of some rows."""
        return Features(self.columns[rows], self.scaling, self.kernel_layer)

    def model(self, kind: Kind, head: nn.Module) -> nn.Sequential:
        """Return the model from raw inputs to logits of a head that was fitted to features of this kind."""
        layers: list[nn.Module] = [self.scaling]
        if kind == "kernel":
            assert self.kernel_layer is not None
            layers.append(self.kernel_layer)
        return nn.Sequential(*layers, head)


def make_features(X: Any, seed: int = 0) -> Features:
    """Return the features of a table; statistics are those of all rows, in float64.

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
    """Return class probabilities of shape (n, q) of a head, for the rows of a matrix of features.

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
    """Take rows as landmarks, and γ = 1 / median squared distance between them."""
    chosen = np.random.default_rng(seed).permutation(len(columns))[:_N_LANDMARKS]
    landmarks = columns[chosen]
    distances = torch.cdist(landmarks.double(), landmarks.double()) ** 2
    positive = distances[distances > 0]
    gamma = 1 / float(positive.median()) if len(positive) else 1.0
    return NystroemFeatures.from_landmarks(landmarks, gamma)
