"""Batches: sources of inputs, the order of the rows in an epoch, and a reader of inputs and labels."""

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
from scarce.training._dataset_source import DatasetSource

_MAX_INDICATOR_NUMBERS = 2**18


class Source(Protocol):
    """The inputs of n examples, read by row index."""

    @property
    def blocks(self) -> Sequence[int]:
        """The sizes of the blocks of consecutive rows that are best read together; see `epoch_order`."""

    def __len__(self) -> int: ...

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        """Yield the inputs of each batch of row indices as floats of this type, of shape (B, ...)."""

    def fingerprint(self) -> str:
        """Return a short text that depends on the data, to check whether a checkpoint belongs to them."""


class ArraySource:
    """A dense array or tensor; uint8 images are scaled to [0, 1] batch by batch."""

    def __init__(self, array: Any) -> None:
        if array.ndim == 0:
            raise FeatureError("inputs is a single number; pass an array with one row per example.")
        if isinstance(array, Tensor) and array.layout != torch.strided:
            raise FeatureError("inputs is a sparse tensor; pass a dense one, or a SciPy sparse matrix.")
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
    """Rows in files, read batch by batch; the inputs are the same as from one array in memory."""

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
    """A sparse matrix, converted to dense batch by batch."""

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
    """Return an array, tensor, sparse matrix, `Shards` or `Dataset` as a source of batches.

    Parameters
    ----------
    inputs : array, tensor, sparse matrix, Shards or Dataset
        One row per example; a `numpy.memmap` is read from disk batch by batch.
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
        f"inputs is a {type(inputs).__name__}; pass an array, a tensor, a sparse matrix, Shards or a torch Dataset."
    )


def float_dtype(model: nn.Module) -> torch.dtype:
    """Return the dtype of the weights of a model."""
    kinds = (weight.dtype for weight in model.parameters() if weight.is_floating_point())
    return next(kinds, torch.get_default_dtype())


def input_dtype(model: nn.Module) -> torch.dtype:
    """Return the dtype of the inputs of a model: that of its weights, or float64 if it centers columns in float64.

    Examples
    --------
    >>> input_dtype(nn.Linear(3, 2))
    torch.float32
    """
    layers = (layer for layer in model.modules() if isinstance(layer, Standardize))
    return torch.float64 if any(layer.rest is not None for layer in layers) else float_dtype(model)


def epoch_order(blocks: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return all row indices in random order: the blocks in random order, and the rows within each.

    With a single block, all orders of the rows are equally likely. With several, the rows of a block stay together, so that
    each block is read only once.

    Parameters
    ----------
    blocks : sequence of int
        The sizes of the blocks of consecutive rows.
    generator : torch.Generator
        The random generator.

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
    """Split an order of rows into batches; a last batch of fewer than `min_rows` rows is merged with the one before it.

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
    """A reader of batches of inputs and labels.

    Parameters
    ----------
    source : Source
        The inputs.
    labels : ComplementaryLabels
        Their labels.
    device : torch.device
        The device of the batches.
    dtype : torch.dtype
        The dtype of the labels, and of the inputs unless `input_dtype` is given.
    input_dtype : torch.dtype, optional
        The dtype of the inputs.
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
        """Return the reader of batches in the dtypes of a model."""
        return cls(source, labels, device, float_dtype(model), input_dtype(model))

    def read(self, indices: list[Tensor], input_indices: list[Tensor] | None = None) -> Iterator[Batch]:
        """Yield the batches of these row indices; with `input_indices`, they hold only the inputs of those rows."""
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
        """Yield ȳ of every batch, of shape (B, q); many small batches are computed together, which is faster."""
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
    with (
        warnings.catch_warnings()
    ):  # torch warns that it could write to a read-only array, which never happens here
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(np.ascontiguousarray(array))


def _sample_rows(n_rows: int) -> range:
    return range(0, n_rows, max(1, n_rows // 1000))


def _digest(arrays: Iterable[NDArray[Any]]) -> str:
    return bytes_digest((np.ascontiguousarray(array).tobytes() for array in arrays), short=True)
