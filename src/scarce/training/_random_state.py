"""The process-wide random state: seeded for a block, by one thread at a time, and restored afterwards.

Initial weights, dropout and whatever a user's network draws come from the generators of the process, which all threads
share. A lock gives each seeded block these generators alone, so fits in several threads have the numbers of a serial loop.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.RLock()  # seeded blocks may be nested


@contextmanager
def own_random_state() -> Iterator[None]:
    """Keep other threads that use this block, or `seeded`, waiting until the block ends."""
    with _lock:
        yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch inside the block and restore its random state afterwards; one thread at a time.

    Examples
    --------
    >>> with seeded(7):
    ...     one = torch.rand(3)
    >>> with seeded(7):
    ...     other = torch.rand(3)
    >>> torch.equal(one, other)
    True
    """
    with own_random_state(), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _renew_lock() -> None:
    """Replace the lock in a forked process, in which a thread that holds it does not exist."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
