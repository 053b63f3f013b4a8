"""The runtime of a training run: the device, the random state, and the processes that share every batch."""

import atexit
import os
import threading
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
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from scarce._validation import shorten
from scarce.errors import MethodError, ProcessError, ScarceError

_TIMEOUT = timedelta(minutes=5)  # until a process counts as hanging; one that dies is noticed at once
_ROLL_CALL_SECONDS = 3.0
# Initial weights, dropout and whatever a user's network draws come from the generators of the process, which all threads share.
# The lock gives each seeded block these generators alone, so fits in several threads have the numbers of a serial loop.
_random_state_lock = threading.RLock()  # seeded blocks may be nested
Value = TypeVar("Value")


def check_device(device: str | torch.device) -> torch.device:
    """Return the device of this name; raise a `MethodError` if it cannot be used.

    Examples
    --------
    >>> check_device("cpu")
    device(type='cpu')
    """
    try:
        if not isinstance(device, (str, torch.device)):
            raise TypeError("it is not a name")
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        found = device if isinstance(device, torch.device) else shorten(device)
        raise MethodError(f"device={found} cannot be used: {reason}; try device='cpu' (--device).") from error
    return torch.device(device)


@contextmanager
def own_random_state() -> Iterator[None]:
    """Keep other threads that use this block, or `seeded`, waiting until the block ends."""
    with _random_state_lock:
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
    global _random_state_lock
    _random_state_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class _AllGatherRows(torch.autograd.Function):
    """Gather the rows of all processes; the backward pass selects the gradient of the local rows.

    Every process computes the same loss of all rows, so the gradient of the local rows is exact. It is multiplied by the
    number of processes because DistributedDataParallel averages gradients where a sum is needed.
    """

    @staticmethod
    def forward(ctx: Any, local: Tensor, shard: slice, n_rows: int, world_size: int) -> Tensor:
        ctx.shard, ctx.world_size = shard, world_size
        gathered = local.new_zeros(n_rows, *local.shape[1:])
        gathered[shard] = local
        dist.all_reduce(gathered)
        return gathered

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return gradient[ctx.shard] * ctx.world_size, None, None, None


@dataclass(frozen=True)
class DistributedContext:
    """The processes that train together, seen from one of them; by default there is only one.

    Parameters
    ----------
    rank : int
        The rank of this process.
    world_size : int
        The number of processes.

    Examples
    --------
    >>> [DistributedContext(rank, 3).shard(8) for rank in range(3)]
    [slice(0, 3, None), slice(3, 6, None), slice(6, 8, None)]
    """

    rank: int = 0
    world_size: int = 1

    def shard(self, n_rows: int) -> slice:
        """Return the slice of `n_rows` rows that this process computes; the sizes of shards differ by at most one."""
        rows_per_process, remainder = divmod(n_rows, self.world_size)
        start = self.rank * rows_per_process + min(self.rank, remainder)
        return slice(start, start + rows_per_process + (self.rank < remainder))

    def local_rows(self, n_rows: int) -> slice:
        """Return the slice of rows that this process runs through the network: its shard, or the first row if that is empty."""
        shard = self.shard(n_rows)
        return shard if shard.start < shard.stop else slice(0, 1)

    def all_gather_rows(self, local: Tensor, n_rows: int) -> Tensor:
        """Gather the rows that each process has computed, with gradients, in one all-reduce."""
        if self.world_size == 1:
            return local
        shard = self.shard(n_rows)
        local = local[: shard.stop - shard.start]
        gathered: Tensor = _AllGatherRows.apply(local, shard, n_rows, self.world_size)  # type: ignore[no-untyped-call]
        return gathered

    @contextmanager
    def rank_seeded(self, *seed: int) -> Iterator[None]:
        """Seed torch inside the block from these numbers and the rank; outside it, all processes have the same random state."""
        if self.world_size == 1:
            yield
        else:
            rank_seed = np.random.SeedSequence((*seed, self.rank)).generate_state(1)
            with seeded(int(rank_seed[0])):
                yield

    def call_on_rank_zero(self, function: Callable[[], Value]) -> Value:
        """Call a function in the first process, and return its result or raise its error in all of them."""
        if self.world_size == 1:
            return function()
        shared: list[Any] = [None, None]
        if self.rank == 0:
            try:
                shared[0] = function()
            except ScarceError as raised:
                shared[1] = raised
        dist.broadcast_object_list(shared)
        value, error = shared
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def parallelize(self, model: nn.Module) -> nn.Module:
        """Return the model, wrapped in DistributedDataParallel if there are several processes."""
        if self.world_size == 1 or not any(weight.requires_grad for weight in model.parameters()):
            return model
        return DistributedDataParallel(model)

    def broadcast_tensors(self, tensors: Iterable[Tensor]) -> None:
        """Copy these tensors from the first process, in place."""
        if self.world_size > 1:
            for tensor in tensors:
                dist.broadcast(tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor, 0)


SINGLE_PROCESS = DistributedContext()


def is_distributed() -> bool:
    """Return whether this process was started by torchrun, or is in a process group already."""
    return dist.is_initialized() or dist.is_torchelastic_launched()


@contextmanager
def distributed_context(distributed: bool, device: torch.device) -> Iterator[DistributedContext]:
    """Join the other processes of a distributed run; without `distributed`, yield the context of a single process.

    If a process dies or hangs, the others raise a `ProcessError` that names it.
    """
    if not distributed:
        yield SINGLE_PROCESS
        return
    if not dist.is_initialized():
        if "RANK" not in os.environ:
            raise MethodError(
                "distributed=True is for several processes; start them with torchrun --nproc-per-node 2 SCRIPT, or leave it out."
            )
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_TIMEOUT)
        atexit.register(
            dist.destroy_process_group
        )  # not sooner: the same processes cannot form a second group
    context = DistributedContext(dist.get_rank(), dist.get_world_size())
    try:
        yield context
    except RuntimeError as error:
        if not _is_connection_error(error):
            raise
        raise ProcessError(
            f"{_name_missing(context)} of {context.world_size} ended or does not respond; see its last output, then run the same "
            "command again to resume from the last checkpoint (with any number of processes)."
        ) from error


def _is_connection_error(error: RuntimeError) -> bool:
    text = str(error)
    return isinstance(error, dist.DistError) or "gloo" in text or "pair closure" in text


def _name_missing(context: DistributedContext) -> str:
    """Return the ranks of the processes that do not answer within a few seconds, as text."""
    # The first process holds the store: if it has ended, nobody gets an answer, and if it hangs, the others wait forever.
    missing = [0]

    def call() -> None:
        nonlocal missing
        others = [rank for rank in range(context.world_size) if rank != context.rank]
        end = time.monotonic() + _ROLL_CALL_SECONDS
        with suppress(RuntimeError):
            store = dist.distributed_c10d._get_default_store()
            store.set(f"alive {context.rank}", "")
            while others and time.monotonic() < end:
                others = [rank for rank in others if not store.check([f"alive {rank}"])]
                time.sleep(0.1)
            missing = others

    roll = Thread(target=call, daemon=True)
    roll.start()
    roll.join(_ROLL_CALL_SECONDS + 1)
    return f"the process of rank {' and '.join(map(str, missing))}" if missing else "a process"
