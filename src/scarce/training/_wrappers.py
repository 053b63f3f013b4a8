"""Model wrappers: micro-batches, bf16 autocast, compilation."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from scarce.errors import MethodError
from scarce.training._batches import float_dtype
from scarce.training.recipe import Recipe


class MicroBatched(nn.Module):
    """A network that processes a batch in micro-batches: the same logits and gradients with less memory.

    The rows are split into micro-batches of nearly equal size, at most `size` rows, and only their logits are kept. In the
    backward pass, once the gradient of the loss of *all* rows is known, each micro-batch is computed again with the same random
    numbers, and its gradient is accumulated. Losses that are not a mean over rows therefore stay exact, at the cost of a second
    forward pass. Batch norm sees one micro-batch at a time, of at least two rows.

    Parameters
    ----------
    model : nn.Module
        Maps rows to logits of shape (B, q).
    size : int
        The maximum number of rows of a micro-batch.

    Examples
    --------
    >>> MicroBatched(nn.Linear(3, 2), size=4)(torch.zeros(10, 3)).shape
    torch.Size([10, 2])
    """

    def __init__(self, model: nn.Module, size: int) -> None:
        super().__init__()
        self.model, self.size = model, size

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits of all rows, of shape (B, q)."""
        max_splits = len(rows) // 2 if has_batch_norm(self.model) else len(rows)
        micro_batches = rows.tensor_split(max(1, min(-(-len(rows) // self.size), max_splits)))
        return torch.cat([self._logits(micro_batch) for micro_batch in micro_batches])

    def _logits(self, micro_batch: Tensor) -> Tensor:
        def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
            return nullcontext(), _preserve_buffers(self.model)

        logits: Tensor = checkpoint(self.model, micro_batch, use_reentrant=False, context_fn=contexts)
        return logits


def has_batch_norm(model: nn.Module) -> bool:
    """Return whether the model has a batch norm layer, which needs more than one row at a time.

    Examples
    --------
    >>> has_batch_norm(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    True
    """
    return any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in model.modules())


@contextmanager
def _preserve_buffers(model: nn.Module) -> Iterator[None]:
    """Restore all buffers after the block, because batch norm has already counted these rows."""
    before = [buffer.clone() for buffer in model.buffers()]
    try:
        yield
    finally:
        for buffer, value in zip(model.buffers(), before, strict=True):
            buffer.copy_(value)


class Compiled(nn.Module):
    """A network compiled with `torch.compile` at its first call; a failure raises a `MethodError`.

    Parameters
    ----------
    model : nn.Module
        Maps rows to logits of shape (B, q).
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = torch.compile(model)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits."""
        # Importing this takes a second, unless torch.compile has done so, as it has here.
        from torch._dynamo.exc import BackendCompilerFailed

        try:
            logits: Tensor = self.model(rows)
        except BackendCompilerFailed as error:
            reason = str(error).strip().partition("\n")[0]
            raise MethodError(
                f"torch cannot compile the network ({reason}); install a C++ compiler such as g++, or leave out "
                "compile=True (--compile)."
            ) from error
        return logits


class Autocast(nn.Module):
    """A network under bfloat16 autocast; its weights and logits keep their dtype.

    Parameters
    ----------
    model : nn.Module
        Maps rows to logits of shape (B, q).

    Examples
    --------
    >>> Autocast(nn.Linear(3, 2))(torch.zeros(4, 3)).dtype
    torch.float32
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits."""
        with torch.autocast(rows.device.type, torch.bfloat16):
            logits: Tensor = self.model(rows)
        return logits.to(float_dtype(self.model))


def wrap_model(model: nn.Module, recipe: Recipe) -> nn.Module:
    """Return the model in the wrappers that the recipe asks for; they share its weights.

    Examples
    --------
    >>> model = nn.Linear(3, 2)
    >>> wrap_model(model, Recipe()) is model
    True
    >>> wrap_model(model, Recipe(micro_batch=8))(torch.zeros(20, 3)).shape
    torch.Size([20, 2])
    """
    wrapped = Compiled(model) if recipe.compile else model
    if recipe.precision == "bf16":
        wrapped = Autocast(wrapped)
    if recipe.micro_batch is not None:
        wrapped = MicroBatched(wrapped, recipe.micro_batch)
    return wrapped
