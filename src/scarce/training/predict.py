"""From a trained model to what it says of all rows, a batch at a time."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from scarce.training.sources import as_source, float_dtype

__all__ = ["map_logits", "predict_logits"]


def map_logits(
    model: nn.Module,
    inputs: Any,
    function: Callable[[Tensor], Tensor],
    *,
    batch_size: int = 1024,
    device: str | torch.device = "cpu",
) -> Tensor:
    """Return ``function(logits)`` of all rows on the CPU, computed batch after batch in evaluation mode.

    Of n rows and q classes only what the function returns is kept, never n × q logits.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    inputs : array, tensor, sparse matrix or Dataset
        One row per example, as `train` takes them.
    function : callable
        From the logits of a batch, on `device`, to a tensor with one row for each of them.
    batch_size : int
        Rows at once.
    device : str or torch.device
        Where the model is.

    Examples
    --------
    >>> import numpy as np
    >>> map_logits(nn.Linear(3, 2), np.zeros((5, 3)), lambda logits: logits.argmax(dim=1)).shape
    torch.Size([5])
    """
    source = as_source(inputs)
    modes = [(module, module.training) for module in model.modules()]  # parts may differ from the whole
    model.eval()
    try:
        with torch.no_grad():
            indices = list(torch.arange(len(source)).split(batch_size))  # type: ignore[no-untyped-call]
            batches = source.batches(indices, float_dtype(model))
            found = torch.empty(0)
            for index, rows in zip(indices, batches, strict=True):
                part = function(model(rows.to(device))).cpu()
                if not len(found):  # one place for all: small parts among large batches break up the heap
                    found = part.new_empty(len(source), *part.shape[1:])
                found[index] = part
            return found
    finally:
        for module, mode in modes:
            module.training = mode


def predict_logits(
    model: nn.Module, inputs: Any, *, batch_size: int = 1024, device: str | torch.device = "cpu"
) -> Tensor:
    """Return the logits of all rows, computed in evaluation mode, on the CPU.

    Examples
    --------
    >>> import numpy as np
    >>> predict_logits(nn.Linear(3, 2), np.zeros((5, 3))).shape
    torch.Size([5, 2])
    """
    return map_logits(model, inputs, lambda logits: logits, batch_size=batch_size, device=device)
