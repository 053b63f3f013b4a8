"""Sources of inputs, batch by batch: an array in memory, a sparse matrix, files, or a `Dataset`."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.utils.data import Dataset

from scarce._hashing import bytes_digest
from scarce.errors import FeatureError
from scarce.features.shards import ArrayShard, Shards
from scarce.models import Standardize
from scarce.training.dataset_source import DatasetSource

__all__ = ["Source", "as_source", "float_dtype", "input_dtype"]


class Source(Protocol):
    """Rows of inputs that can be gathered by index."""

    @property
    def blocks(self) -> Sequence[int]:
        """The numbers of consecutive rows that are best read together; see `scarce.training.batches.epoch_order`."""

    def __len__(self) -> int: ...

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        """Yield the inputs of one batch of row numbers after the other, as floats of this type."""

    def fingerprint(self) -> str:
        """Return a short text that changes when the data do; a checkpoint is tied to it."""


class ArraySource:
    """A dense array, kept as it is; images of bytes become floats from 0 to 1 a batch at a time."""

    def __init__(self, array: Any) -> None:
        if array.ndim == 0:
            raise FeatureError("inputs is a single number; expected an array with one row per example.")
        if isinstance(array, Tensor) and array.layout != torch.strided:
            raise FeatureError(
                "inputs is a sparse tensor; expected a dense one, or a sparse matrix of scipy."
            )
        self.rows = array.detach() if isinstance(array, Tensor) else _to_tensor(array)
        self.is_image = self.rows.dtype == torch.uint8 and self.rows.dim() > 2
        self.blocks = (len(self.rows),)

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        for index in indices:
            rows = self.rows.index_select(0, index.to(self.rows.device)).to(dtype)
            yield rows.div_(255) if self.is_image else rows

    def fingerprint(self) -> str:
        sample = (self.rows[row].cpu().contiguous().numpy() for row in _sample_rows(len(self)))
        return f"{tuple(self.rows.shape)} {_digest(sample)}"


class ShardSource:
    """Rows in files, read a batch at a time; the numbers are those that an array of them would give."""

    def __init__(self, rows: Shards) -> None:
        _check_numeric(rows.dtype)
        self.rows, self.blocks = rows, rows.blocks
        self.is_image = rows.dtype == np.uint8 and rows.ndim > 2

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        for index in indices:
            rows = _to_tensor(self.rows.take(index.numpy())).to(dtype)
            yield rows.div_(255) if self.is_image else rows

    def fingerprint(self) -> str:
        sample = (_to_tensor(self.rows.take([row])).numpy() for row in _sample_rows(len(self)))
        order = "" if len(self.blocks) == 1 else f" {_digest([np.array(self.blocks)])}"
        return f"{self.rows.shape} {_digest(sample)}{order}"


class SparseSource:
    """A sparse matrix, made dense a batch at a time."""

    def __init__(self, matrix: Any) -> None:
        self.rows = sparse.csr_matrix(matrix)
        self.blocks = (int(self.rows.shape[0]),)

    def __len__(self) -> int:
        return self.blocks[0]

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        for index in indices:
            yield torch.from_numpy(self.rows[index.numpy()].toarray()).to(dtype)

    def fingerprint(self) -> str:
        return f"{self.rows.shape} {_digest([self.rows.data, self.rows.indices, self.rows.indptr])}"


def as_source(inputs: Any, workers: int = 0) -> Source:
    """Wrap an array, tensor, sparse matrix, `Shards` or `Dataset` as a source of batches.

    Parameters
    ----------
    inputs : array, tensor, sparse matrix, Shards or Dataset
        One row per example; arrays of `numpy.memmap` are read from disk a batch at a time.
    workers : int
        The number of worker processes that read a `Dataset` ahead; other inputs need none.

    Examples
    --------
    >>> source = as_source(np.array([[[255, 0]], [[51, 0]]], np.uint8))
    >>> next(source.batches([torch.tensor([1])], torch.float32)).tolist()
    [[[0.20000000298023224, 0.0]]]
    """
    if isinstance(inputs, (ArraySource, SparseSource, ShardSource, DatasetSource)):
        return inputs
    if isinstance(inputs, Dataset):
        return DatasetSource(inputs, workers)
    if isinstance(inputs, np.memmap) and inputs.ndim:
        return ShardSource(Shards([ArrayShard(inputs)]))
    if isinstance(inputs, Shards):
        return ShardSource(inputs)
    if sparse.issparse(inputs):
        return SparseSource(inputs)
    if isinstance(inputs, (np.ndarray, Tensor)):
        return ArraySource(inputs)
    raise FeatureError(
        f"inputs is a {type(inputs).__name__}; expected an array, a tensor, a sparse matrix or a torch Dataset."
    )


def float_dtype(model: nn.Module) -> torch.dtype:
    """Return the type of numbers a model computes with."""
    kinds = (weight.dtype for weight in model.parameters() if weight.is_floating_point())
    return next(kinds, torch.get_default_dtype())


def input_dtype(model: nn.Module) -> torch.dtype:
    """Return the type of the inputs of a model: that of its weights, or float64 if its first layer centres columns in it.

    Examples
    --------
    >>> input_dtype(nn.Linear(3, 2))
    torch.float32
    """
    layers = (layer for layer in model.modules() if isinstance(layer, Standardize))
    return torch.float64 if any(layer.rest is not None for layer in layers) else float_dtype(model)


def _check_numeric(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise FeatureError(f"inputs holds {dtype} values; expected numbers.")


def _to_tensor(array: NDArray[Any]) -> Tensor:
    _check_numeric(array.dtype)
    if array.dtype.itemsize > 8 or not array.dtype.isnative:  # long doubles and foreign byte orders
        array = array.astype(np.float64)
    with warnings.catch_warnings():  # torch warns that it could write to a read-only array; we never do
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(np.ascontiguousarray(array))


def _sample_rows(n_rows: int) -> range:
    return range(0, n_rows, max(1, n_rows // 1000))


def _digest(arrays: Iterable[NDArray[Any]]) -> str:
    return bytes_digest((np.ascontiguousarray(array).tobytes() for array in arrays), short=True)
