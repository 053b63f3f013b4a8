"""How a command computes: with how many threads, and alone or as one of several processes."""

import os

__all__ = ["is_distributed", "rank", "use_one_thread"]


def use_one_thread() -> None:
    """Let torch compute with one thread, unless ``OMP_NUM_THREADS`` says otherwise.

    Small networks gain nothing from more, and on a busy machine the threads wait for each other most of the time.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def is_distributed() -> bool:
    """Return whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank() -> int:
    """Return which of the processes this is; 0 is the first, or the only one.

    Examples
    --------
    >>> rank()
    0
    """
    return int(os.environ["RANK"]) if is_distributed() else 0
