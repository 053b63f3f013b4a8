"""Randomness from a seed that leaves the user's own random state alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["seeded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from this seed inside the block, and go on outside as if nothing had been drawn.

    Examples
    --------
    >>> with seeded(7):
    ...     one = torch.rand(3)
    >>> with seeded(7):
    ...     other = torch.rand(3)
    >>> torch.equal(one, other)
    True
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
