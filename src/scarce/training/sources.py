"""Where inputs come from, batch by batch: an array in memory, a sparse matrix, or a `Dataset`."""

import hashlib
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from scarce.errors import FeatureError

__all__ = ["Source", "as_source", "float_dtype"]


class Source(Protocol):
    """Rows of inputs that can be gathered by index."""

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
        self.rows = array.detach() if isinstance(array, Tensor) else _without_copy(array)
        self.is_image = self.rows.dtype == torch.uint8 and self.rows.dim() > 2

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        for index in indices:
            rows = self.rows.index_select(0, index.to(self.rows.device)).to(dtype)
            yield rows.div_(255) if self.is_image else rows

    def fingerprint(self) -> str:
        sample = self.rows[:: max(1, len(self) // 1000)].cpu().contiguous().numpy()
        return f"{tuple(self.rows.shape)} {_digest(sample)}"


class SparseSource:
    """A sparse matrix, made dense a batch at a time."""

    def __init__(self, matrix: Any) -> None:
        self.rows = sparse.csr_matrix(matrix)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        for index in indices:
            yield torch.from_numpy(self.rows[index.numpy()].toarray()).to(dtype)

    def fingerprint(self) -> str:
        return f"{self.rows.shape} {_digest(self.rows.data, self.rows.indices, self.rows.indptr)}"


class DatasetSource:
    """A user's `Dataset`; of an item that is a tuple, the first part is the input."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        if not hasattr(dataset, "__len__"):
            raise FeatureError(
                f"{type(dataset).__name__} has no length; expected a Dataset with __len__ and __getitem__."
            )
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        order = [index.tolist() for index in indices]
        own = torch.Generator()  # a loader draws a seed, which must not come from the user's generator
        for items in DataLoader(self.dataset, batch_sampler=order, generator=own.manual_seed(0)):
            inputs = items[0] if isinstance(items, (list, tuple)) else items
            if not isinstance(inputs, Tensor):
                raise FeatureError(
                    f"an item of {type(self.dataset).__name__} is a {type(inputs).__name__}; expected a tensor, or a "
                    "tuple that begins with one."
                )
            yield inputs.to(dtype)

    def fingerprint(self) -> str:
        return f"{type(self.dataset).__name__} of {len(self)}"


def as_source(inputs: Any) -> Source:
    """Wrap an array, tensor, sparse matrix or `Dataset` as a source of batches.

    Examples
    --------
    >>> source = as_source(np.array([[[255, 0]], [[51, 0]]], np.uint8))
    >>> next(source.batches([torch.tensor([1])], torch.float32)).tolist()
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


def float_dtype(model: nn.Module) -> torch.dtype:
    """Return the type of numbers a model computes with."""
    kinds = (weight.dtype for weight in model.parameters() if weight.is_floating_point())
    return next(kinds, torch.get_default_dtype())


def _without_copy(array: NDArray[Any]) -> Tensor:
    if array.dtype.kind not in "biuf":
        raise FeatureError(f"inputs holds {array.dtype} values; expected numbers.")
    if array.dtype.itemsize > 8 or not array.dtype.isnative:  # long doubles and foreign byte orders
        array = array.astype(np.float64)
    with warnings.catch_warnings():  # torch warns that it could write to a read-only array; we never do
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(np.ascontiguousarray(array))


def _digest(*arrays: NDArray[Any]) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]
