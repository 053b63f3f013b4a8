"""In which order an epoch goes through the rows."""

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["epoch_order"]


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
