"""Where inputs come from, batch by batch: an array in memory, a sparse matrix, or a `Dataset`."""

import hashlib
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from scarce.errors import FeatureError

__all__ = ["Source", "as_source"]


class Source(Protocol):
    """Rows of inputs that can be gathered by index."""

    def __len__(self) -> int: ...

    def batches(self, indices: list[Tensor]) -> Iterator[Tensor]:
        """Yield the inputs of one batch of row numbers after the other, as floats."""

    def fingerprint(self) -> str:
        """Return a short text that changes when the data do; a checkpoint is tied to it."""


class ArraySource:
    """A dense array, kept as it is; images of bytes become floats from 0 to 1 a batch at a time."""

    def __init__(self, array: Any) -> None:
        if isinstance(array, Tensor):
            self.rows = array
        else:
            with (
                warnings.catch_warnings()
            ):  # torch warns that it could write to a read-only array; we never do
                warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
                self.rows = torch.from_numpy(np.ascontiguousarray(array))
        self.is_image = self.rows.dtype == torch.uint8 and self.rows.dim() > 2

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, indices: list[Tensor]) -> Iterator[Tensor]:
        dtype = torch.get_default_dtype()
        for index in indices:
            rows = self.rows.index_select(0, index).to(dtype)
            yield rows.div_(255) if self.is_image else rows

    def fingerprint(self) -> str:
        return f"{tuple(self.rows.shape)} {_digest(self.rows[:: max(1, len(self) // 1000)].contiguous().numpy())}"


class SparseSource:
    """A sparse matrix, made dense a batch at a time."""

    def __init__(self, matrix: Any) -> None:
        self.rows = sparse.csr_matrix(matrix)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def batches(self, indices: list[Tensor]) -> Iterator[Tensor]:
        dtype = torch.get_default_dtype()
        for index in indices:
            yield torch.from_numpy(self.rows[index.numpy()].toarray()).to(dtype)

    def fingerprint(self) -> str:
        return f"{self.rows.shape} {_digest(self.rows.data)}"


class DatasetSource:
    """A user's `Dataset`; of an item that is a tuple, the first part is the input."""

    def __init__(self, dataset: Dataset[Any], workers: int = 0) -> None:
        self.dataset, self.workers = dataset, workers

    def __len__(self) -> int:
        return len(self.dataset)  # type: ignore[arg-type]

    def batches(self, indices: list[Tensor]) -> Iterator[Tensor]:
        order = [index.tolist() for index in indices]
        for items in DataLoader(self.dataset, batch_sampler=order, num_workers=self.workers):
            inputs = items[0] if isinstance(items, (list, tuple)) else items
            yield inputs.to(torch.get_default_dtype())

    def fingerprint(self) -> str:
        return f"{type(self.dataset).__name__} of {len(self)}"


def as_source(inputs: Any) -> Source:
    """Wrap an array, tensor, sparse matrix or `Dataset` as a source of batches.

    Examples
    --------
    >>> source = as_source(np.array([[[255, 0]], [[51, 0]]], np.uint8))
    >>> next(source.batches([torch.tensor([1])])).tolist()
    [[[0.20000000298023224, 0.0]]]
    """
    if isinstance(inputs, (ArraySource, SparseSource, DatasetSource)):
        return inputs
    if isinstance(inputs, Dataset):
        return DatasetSource(inputs)
    if sparse.issparse(inputs):
        return SparseSource(inputs)
    if isinstance(inputs, (np.ndarray, Tensor)):
        return ArraySource(inputs)
    raise FeatureError(
        f"inputs is a {type(inputs).__name__}; expected an array, a tensor, a sparse matrix or a torch Dataset."
    )


def _digest(array: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
