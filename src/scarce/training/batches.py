"""Rows and what is known of them, batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch
from scarce.training.processes import ALONE, Processes
from scarce.training.sources import Source

__all__ = ["Reader", "split_order"]


@dataclass(frozen=True)
class Reader:
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
    """

    source: Source
    labels: ComplementaryLabels
    device: torch.device
    dtype: torch.dtype

    def read(self, indices: list[Tensor], processes: Processes = ALONE) -> Iterator[Batch]:
        """Yield the batches of these row numbers, with the inputs of the rows of each that this process computes."""
        own = [index[processes.computed(len(index))] for index in indices]
        for index, inputs in zip(indices, self.source.batches(own, self.dtype), strict=True):
            excluded = torch.from_numpy(self.labels.indicator(index.numpy(), np.float32))
            known = None if self._confirmed is None else self._confirmed[index].to(self.device)
            yield Batch(inputs.to(self.device), excluded.to(self.device, self.dtype), index, known)

    @cached_property
    def _confirmed(self) -> Tensor | None:
        confirmed = self.labels.confirmed
        return torch.from_numpy(confirmed.astype(np.int64)) if confirmed.max() >= 0 else None


def split_order(order: Tensor, batch_size: int, least: int) -> list[Tensor]:
    """Split an order of rows into batches; if fewer than `least` are left for the last, they join the one before it.

    Examples
    --------
    >>> [len(batch) for batch in split_order(torch.arange(9), 4, least=2)]
    [4, 5]
    """
    batches = list(order.split(batch_size))  # type: ignore[no-untyped-call]
    if len(batches) > 1 and len(batches[-1]) < least:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches
