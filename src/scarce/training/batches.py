"""Batches: the order of an epoch, its split into batches, and a reader of inputs and labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch
from scarce.training.distributed import SINGLE_PROCESS, DistributedContext
from scarce.training.sources import Source, float_dtype, input_dtype

__all__ = ["BatchReader", "epoch_order", "split_order"]

_MAX_INDICATOR_NUMBERS = 2**18


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

    def read(self, indices: list[Tensor], context: DistributedContext = SINGLE_PROCESS) -> Iterator[Batch]:
        """Yield the batches of these row numbers, with the inputs of the rows of each that this process computes."""
        local_indices = [index[context.local_rows(len(index))] for index in indices]
        rows = zip(
            indices,
            self.source.batches(local_indices, self.input_dtype or self.dtype),
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
