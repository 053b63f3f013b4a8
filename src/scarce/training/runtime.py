"""Devices and seeds."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from scarce.errors import MethodError

__all__ = ["check_device", "seeded"]


def check_device(device: str | torch.device) -> torch.device:
    """Return the device of that name; raise a `MethodError` if it cannot be used.

    Examples
    --------
    >>> check_device("cpu")
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
    """Seed torch inside the block, and restore its random state afterwards.

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
