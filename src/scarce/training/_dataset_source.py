"""Inputs from a torch `Dataset`, the same for any number of workers."""

import random
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, default_collate

from scarce._validation import abbreviate, check_integer
from scarce.errors import FeatureError
from scarce.training._runtime import own_random_state

_SEED_MULTIPLIER = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio


class DatasetSource:
    """Inputs from a map-style `Dataset`; if its items are tuples, the first element is the input.

    The random numbers that an item draws from torch, numpy.random or random depend on its index and the epoch only, not on the
    process that reads it.

    Parameters
    ----------
    dataset : Dataset
        With ``__len__`` and ``__getitem__``.
    workers : int
        The number of worker processes that read ahead; with 0, the training process reads.
    """

    def __init__(self, dataset: Dataset[Any], workers: int = 0) -> None:
        if not hasattr(dataset, "__len__"):
            raise FeatureError(
                f"{type(dataset).__name__} has no length; expected a Dataset with __getitem__ and __len__: add __len__."
            )
        check_integer("workers", workers)
        self.dataset, self.workers = dataset, workers
        self.blocks = (len(dataset),)

    def __len__(self) -> int:
        return self.blocks[0]

    def batches(self, indices: list[Tensor], dtype: torch.dtype) -> Iterator[Tensor]:
        """Yield the inputs of each batch of row indices, of shape (B, ...)."""
        with own_random_state():  # not the seed of another thread's training
            seed = torch.initial_seed()
        batches = _BatchDataset(self.dataset, indices, seed)
        read = self._read_ahead(batches) if self.workers else map(batches.read, indices)
        for inputs in read:
            yield inputs.to(dtype)

    def fingerprint(self) -> str:
        """Return the name and length of the Dataset; its items are not read."""
        return f"{type(self.dataset).__name__} of {len(self)}"

    def _read_ahead(self, batches: "_BatchDataset") -> Iterator[Tensor]:
        generator = (
            torch.Generator()
        )  # the loader draws a seed, which must not come from torch's default generator
        loader = DataLoader(
            batches, batch_size=None, num_workers=self.workers, generator=generator.manual_seed(0)
        )
        try:
            read = _start_workers(loader)
            for _ in range(len(batches)):
                inputs = next(read)
                if isinstance(inputs, str):
                    raise FeatureError(inputs)
                yield inputs
        except (RuntimeError, OSError, EOFError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise FeatureError(
                f"the {self.workers} processes that read {type(self.dataset).__name__} failed ({reason}); pass workers=0 to see "
                "why, or fewer if memory is short."
            ) from error


class _BatchDataset(Dataset[Any]):
    """The batches of one epoch, for a `DataLoader`: tensors, or the text of an error."""

    def __init__(self, dataset: Dataset[Any], indices: list[Tensor], seed: int) -> None:
        self.dataset, self.indices, self.seed = dataset, indices, seed

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, number: int) -> Tensor | str:
        try:
            return self.read(self.indices[number])
        except FeatureError as error:  # from a worker, an exception would arrive as the text of its traceback
            return str(error)

    def read(self, index: Tensor) -> Tensor:
        """Return the inputs of the items with these indices."""
        rows, items, name = index.tolist(), [], type(self.dataset).__name__
        try:
            with _preserve_random_state():
                if hasattr(self.dataset, "__getitems__"):
                    _seed_item(self.seed, rows[0])
                    items += self.dataset.__getitems__(rows)
                else:
                    for row in rows:
                        _seed_item(self.seed, row)
                        items.append(self.dataset[row])
        except Exception as error:  # user code may raise anything
            reason = str(error).partition("\n")[0]
            raise FeatureError(
                f"{name} failed at item {rows[len(items)]} ({type(error).__name__}: {reason}); correct its __getitem__."
            ) from error
        first = [item[0] if isinstance(item, (list, tuple)) else item for item in items]
        try:
            inputs = default_collate(first)
        except Exception as error:  # of many types, few of which say what is wrong
            kinds = {f"{type(item).__name__} of shape {tuple(np.shape(item))}": None for item in first}
            raise FeatureError(
                f"the items of {name} do not fit into one batch: there are {abbreviate(kinds)}; return tensors of one shape, or "
                "tuples that begin with one."
            ) from error
        if not isinstance(inputs, Tensor):
            raise FeatureError(
                f"an item of {name} is a {type(inputs).__name__}; return a tensor, or a tuple that begins with one."
            )
        return inputs


@contextmanager
def _preserve_random_state() -> Iterator[None]:
    """Restore all random states after the block, except those of a GPU, which a forked process must not touch."""
    with own_random_state():
        python, legacy = random.getstate(), np.random.get_state()
        try:
            with torch.random.fork_rng(devices=[]):
                yield
        finally:
            random.setstate(python)
            np.random.set_state(legacy)


def _seed_item(seed: int, row: int) -> None:
    """Seed the generators that an item may draw from; multiples of an odd number give every row a different seed."""
    item_seed = (seed + row * _SEED_MULTIPLIER) % 2**64
    random.seed(item_seed)
    np.random.seed(item_seed % 2**32)
    torch.default_generator.manual_seed(item_seed)


def _start_workers(loader: DataLoader[Any]) -> Iterator[Any]:
    """Start the processes of a loader, and remove the signal handler that torch installs with them.

    When a process dies, the handler raises an error wherever the program happens to be; the loader also notices, a little later.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return iter(loader)
    handler = signal.getsignal(signal.SIGCHLD)
    read = iter(loader)
    signal.signal(signal.SIGCHLD, handler)
    return read
