"""From a trained model to its logits."""

from typing import Any

import torch
from torch import Tensor, nn

from scarce.training.sources import as_source, float_dtype

__all__ = ["predict_logits"]


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
    source = as_source(inputs)
    modes = [(module, module.training) for module in model.modules()]  # parts may differ from the whole
    model.eval()
    try:
        with torch.no_grad():
            indices = list(torch.arange(len(source)).split(batch_size))  # type: ignore[no-untyped-call]
            batches = source.batches(indices, float_dtype(model))
            return torch.cat([model(rows.to(device)).cpu() for rows in batches])
    finally:
        for module, mode in modes:
            module.training = mode
