"""Devices and seeds."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from scarce.errors import MethodError

__all__ = ["seeded", "usable_device"]


def usable_device(device: str | torch.device) -> torch.device:
    """Return the device of that name, after making sure that it can compute here.

    Examples
    --------
    >>> usable_device("cpu")
    device(type='cpu')
    """
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise MethodError(
            f"device={str(device)!r} cannot be used: {reason}; try device='cpu' (--device)."
        ) from error
    return torch.device(device)


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
