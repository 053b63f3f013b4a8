"""Batches: sources of inputs, the order of an epoch and its split, and a reader of inputs and labels."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch
from scarce.models import Standardize
from scarce.training.dataset_source import DatasetSource

__all__ = [
    "BatchReader",
    "Source",
    "as_source",
    "epoch_order",
    "float_dtype",
    "input_dtype",
    "split_order",
]

_MAX_INDICATOR_NUMBERS = 2**18


class Source(Protocol):
    """Rows of inputs that can be gathered by index."""

    @property
    def blocks(self) -> Sequence[int]:
        """The numbers of consecutive rows that are best read together; see `epoch_order`."""

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


def epoch_order(blocks: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return all row numbers at random: the blocks in random order, and the rows within each.

    With a single block every order of the rows is equally probable. With several, rows of one block stay together, so
    that it has to be read only once.

    Parameters
    ----------
    blocks : sequence of int
        The sizes of the blocks that the rows stand in, one after the other.
    generator : torch.Generator
        To draw from.

    Examples
    --------
    >>> order = epoch_order([2, 3], torch.Generator().manual_seed(0))
    >>> order.tolist()
    [1, 0, 4, 3, 2]
    """
    if len(blocks) == 1:
        return torch.randperm(blocks[0], generator=generator)
    starts = torch.tensor([0, *blocks]).cumsum(0).tolist()
    order = torch.randperm(len(blocks), generator=generator).tolist()
    return torch.cat([starts[block] + torch.randperm(blocks[block], generator=generator) for block in order])


def split_order(order: Tensor, batch_size: int, min_rows: int) -> list[Tensor]:
    """Split an order of rows into batches; if fewer than `min_rows` are left for the last, they join the one before it.

    Examples
    --------
    >>> [len(batch) for batch in split_order(torch.arange(9), 4, min_rows=2)]
    [4, 5]
    """
    batches = list(order.split(batch_size))  # type: ignore[no-untyped-call]
    if len(batches) > 1 and len(batches[-1]) < min_rows:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


@dataclass(frozen=True)
class BatchReader:
    """Reads batches of inputs and labels.

    Parameters
    ----------
    source : Source
        The inputs.
    labels : ComplementaryLabels
        What is known of them.
    device : torch.device
        Where the batches go.
    dtype : torch.dtype
        The type of their numbers.
    input_dtype : torch.dtype, optional
        That of the inputs, where it is another.
    """

    source: Source
    labels: ComplementaryLabels
    device: torch.device
    dtype: torch.dtype
    input_dtype: torch.dtype | None = None

    @classmethod
    def of(
        cls, model: nn.Module, source: Source, labels: ComplementaryLabels, device: torch.device
    ) -> "BatchReader":
        """Return the reader of batches in the types of numbers of a model."""
        return cls(source, labels, device, float_dtype(model), input_dtype(model))

    def read(self, indices: list[Tensor], input_indices: list[Tensor] | None = None) -> Iterator[Batch]:
        """Yield the batches of these row numbers; with `input_indices`, with the inputs of those rows only."""
        rows = zip(
            indices,
            self.source.batches(input_indices or indices, self.input_dtype or self.dtype),
            self._iter_excluded(indices),
            strict=True,
        )
        for index, inputs, excluded in rows:
            known = None if self._confirmed is None else self._confirmed[index].to(self.device)
            yield Batch(inputs.to(self.device), excluded, index, known)

    def _iter_excluded(self, indices: list[Tensor]) -> Iterator[Tensor]:
        """Yield ȳ of every batch; those of many small batches are computed at once, which costs no more than one alone."""
        max_numbers = self.labels.n_classes * max(map(len, indices), default=1)
        n_batches = max(1, _MAX_INDICATOR_NUMBERS // max_numbers)
        for start in range(0, len(indices), n_batches):
            group = indices[start : start + n_batches]
            joined = torch.from_numpy(self.labels.indicator(torch.cat(group).numpy(), np.float32))
            yield from joined.to(self.device, self.dtype).split([len(index) for index in group])  # type: ignore[no-untyped-call]

    @cached_property
    def _confirmed(self) -> Tensor | None:
        confirmed = self.labels.confirmed
        return torch.from_numpy(confirmed.astype(np.int64)) if confirmed.max() >= 0 else None


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
