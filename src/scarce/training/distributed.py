"""Distributed training: the processes that share every batch, and how they exchange rows, tensors and results."""

import atexit
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Thread
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from scarce.errors import MethodError, ProcessError, ScarceError
from scarce.training.runtime import seeded

__all__ = ["SINGLE_PROCESS", "DistributedContext", "distributed_context", "is_distributed"]

_PATIENCE = timedelta(minutes=5)  # for one that says nothing; one that dies is noticed at once
_ROLL_CALL = 3.0  # seconds
Value = TypeVar("Value")


class _Joined(torch.autograd.Function):
    """Own rows in, all rows out; backwards, all rows of the gradient in, own rows out.

    Every process computes the same loss of all rows, so that the own rows of its gradient are exact as they are. They
    are multiplied by the number of processes because DistributedDataParallel averages where a sum is wanted.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor, shard: slice, n_rows: int, world_size: int) -> Tensor:
        ctx.shard, ctx.world_size = shard, world_size
        joined = own.new_zeros(n_rows, *own.shape[1:])
        joined[shard] = own
        dist.all_reduce(joined)
        return joined

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return gradient[ctx.shard] * ctx.world_size, None, None, None


@dataclass(frozen=True)
class DistributedContext:
    """The processes of a run, as one of them sees it; by default there is only this one.

    Parameters
    ----------
    rank, world_size : int
        Which process this is, and how many there are.

    Examples
    --------
    >>> [DistributedContext(rank, 3).shard(8) for rank in range(3)]
    [slice(0, 3, None), slice(3, 6, None), slice(6, 8, None)]
    """

    rank: int = 0
    world_size: int = 1

    def shard(self, n_rows: int) -> slice:
        """Return which of so many rows this process computes; shares differ by one row at most."""
        each, over = divmod(n_rows, self.world_size)
        start = self.rank * each + min(self.rank, over)
        return slice(start, start + each + (self.rank < over))

    def local_rows(self, n_rows: int) -> slice:
        """Return which rows this process puts through the network: its shard, or if that is empty, the first, for show."""
        shard = self.shard(n_rows)
        return shard if shard.start < shard.stop else slice(0, 1)

    def all_gather_rows(self, own: Tensor, n_rows: int) -> Tensor:
        """Return the rows of all processes from those that each has computed, differentiably; one all-reduce."""
        if self.world_size == 1:
            return own
        shard = self.shard(n_rows)
        own = own[: shard.stop - shard.start]
        joined: Tensor = _Joined.apply(own, shard, n_rows, self.world_size)  # type: ignore[no-untyped-call]
        return joined

    @contextmanager
    def rank_seeded(self, *seed: int) -> Iterator[None]:
        """Draw randomness of one's own inside, fixed by these numbers; outside, all go on with the same."""
        if self.world_size == 1:
            yield
        else:
            own = np.random.SeedSequence((*seed, self.rank)).generate_state(1)
            with seeded(int(own[0])):
                yield

    def call_on_rank_zero(self, of_first: Callable[[], Value]) -> Value:
        """Return what this function gives in the first process, in all of them; raise what it raises."""
        if self.world_size == 1:
            return of_first()
        box: list[Any] = [None, None]
        if self.rank == 0:
            try:
                box[0] = of_first()
            except ScarceError as error:
                box[1] = error
        dist.broadcast_object_list(box)
        value, mistake = box
        if mistake is not None:
            raise mistake
        return value  # type: ignore[no-any-return]

    def broadcast_tensors(self, tensors: Iterable[Tensor]) -> None:
        """Replace these tensors by those of the first process."""
        if self.world_size > 1:
            for tensor in tensors:
                dist.broadcast(tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor, 0)


SINGLE_PROCESS = DistributedContext()


def is_distributed() -> bool:
    """Return whether this process was started by torchrun, or has joined others by itself."""
    return dist.is_initialized() or dist.is_torchelastic_launched()


@contextmanager
def distributed_context(distributed: bool, device: torch.device) -> Iterator[DistributedContext]:
    """Join the other processes of the run, if there are any.

    A process that dies or falls silent ends the others with a `ProcessError` that names it.
    """
    if not distributed:
        yield SINGLE_PROCESS
        return
    if not dist.is_initialized():
        if "RANK" not in os.environ:
            raise MethodError(
                "distributed=True is for several processes; start them with torchrun --nproc-per-node 2 SCRIPT, or leave it out."
            )
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
        atexit.register(dist.destroy_process_group)  # not sooner: the same processes cannot meet twice
    here = DistributedContext(dist.get_rank(), dist.get_world_size())
    try:
        yield here
    except RuntimeError as error:
        if not _is_of_connection(error):
            raise
        raise ProcessError(
            f"{_name_missing(here)} of {here.world_size} ended or fell silent; see what it said last, then run the same command "
            "again to go on from the last checkpoint (with any number of processes)."
        ) from error


def _is_of_connection(error: RuntimeError) -> bool:
    text = str(error)
    return isinstance(error, dist.DistError) or "gloo" in text or "pair closure" in text


def _name_missing(here: DistributedContext) -> str:
    """Call the roll: who does not answer within some seconds is missing."""
    # The first keeps the list: without it nobody gets an answer, and one that is stopped keeps the others waiting for ever.
    missing = [0]

    def call() -> None:
        nonlocal missing
        others = [rank for rank in range(here.world_size) if rank != here.rank]
        end = time.monotonic() + _ROLL_CALL
        with suppress(RuntimeError):
            store = dist.distributed_c10d._get_default_store()
            store.set(f"alive {here.rank}", "")
            while others and time.monotonic() < end:
                others = [rank for rank in others if not store.check([f"alive {rank}"])]
                time.sleep(0.1)
            missing = others

    roll = Thread(target=call, daemon=True)
    roll.start()
    roll.join(_ROLL_CALL + 1)
    return f"the process of rank {' and '.join(map(str, missing))}" if missing else "a process"
