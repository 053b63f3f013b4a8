"""How many threads a command computes with."""

import os

__all__ = ["use_one_thread"]


def use_one_thread() -> None:
    """Let torch compute with one thread, unless ``OMP_NUM_THREADS`` says otherwise.

    Small networks gain nothing from more, and on a busy machine the threads wait for each other most of the time.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
