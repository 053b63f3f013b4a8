"""A command that several processes, started by torchrun, carry out together: the first speaks and writes for all."""

import os

__all__ = ["is_together", "rank"]


def is_together() -> bool:
    """Return whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank() -> int:
    """Return which of the processes this is; 0 is the first, or the only one.

    Examples
    --------
    >>> rank()
    0
    """
    return int(os.environ["RANK"]) if is_together() else 0
