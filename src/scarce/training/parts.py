"""A network that is shown a large batch in small parts."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

__all__ = ["InParts", "has_batch_norm"]


class InParts(nn.Module):
    """The same logits and gradients as the network itself, with the memory of a few rows.

    The rows are shown in equal parts of at most `size`. Only their logits are kept; when the gradient of the loss of
    *all* of them is known, every part is computed once more, with the same randomness, and its gradient is added up. So
    losses that are no mean over rows stay exact, and a step costs one forward pass more. Batch norm sees one part at a time,
    of two rows at least.

    Parameters
    ----------
    network : nn.Module
        From rows to logits.
    size : int
        Rows of a part.

    Examples
    --------
    >>> InParts(nn.Linear(3, 2), size=4)(torch.zeros(10, 3)).shape
    torch.Size([10, 2])
    """

    def __init__(self, network: nn.Module, size: int) -> None:
        super().__init__()
        self.network, self.size = network, size

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits of all rows."""
        most = len(rows) // 2 if has_batch_norm(self.network) else len(rows)
        parts = rows.tensor_split(max(1, min(-(-len(rows) // self.size), most)))
        return torch.cat([self._logits(part) for part in parts])

    def _logits(self, part: Tensor) -> Tensor:
        def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
            return nullcontext(), _buffers_kept(self.network)

        logits: Tensor = checkpoint(self.network, part, use_reentrant=False, context_fn=contexts)
        return logits


def has_batch_norm(model: nn.Module) -> bool:
    """Return whether a layer of the model needs more than one row at a time.

    Examples
    --------
    >>> has_batch_norm(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    True
    """
    return any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in model.modules())


@contextmanager
def _buffers_kept(network: nn.Module) -> Iterator[None]:
    """Batch norm has counted these rows already."""
    before = [buffer.clone() for buffer in network.buffers()]
    try:
        yield
    finally:
        for buffer, value in zip(network.buffers(), before, strict=True):
            buffer.copy_(value)
