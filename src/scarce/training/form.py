"""The form in which a step shows rows to a model: compiled, with short numbers, in parts, shared between processes."""

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from scarce.training.parts import InParts
from scarce.training.processes import Processes
from scarce.training.recipe import Recipe

__all__ = ["InShortNumbers", "has_batch_norm", "working_form"]


class InShortNumbers(nn.Module):
    """A network computed with bfloat16 where torch deems it safe; its weights and logits keep their type.

    Examples
    --------
    >>> InShortNumbers(nn.Linear(3, 2))(torch.zeros(4, 3)).dtype
    torch.float32
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits."""
        with torch.autocast(rows.device.type, torch.bfloat16):
            logits: Tensor = self.network(rows)
        return logits.to(rows.dtype)


def working_form(model: nn.Module, recipe: Recipe, processes: Processes) -> nn.Module:
    """Return what a step calls instead of the model; it shares the model's weights.

    Examples
    --------
    >>> model = nn.Linear(3, 2)
    >>> working_form(model, Recipe(), Processes()) is model
    True
    >>> working_form(model, Recipe(micro_batch=8), Processes())(torch.zeros(20, 3)).shape
    torch.Size([20, 2])
    """
    network: nn.Module = torch.compile(model) if recipe.compile else model  # type: ignore[assignment]
    if recipe.precision == "bf16":
        network = InShortNumbers(network)
    if recipe.micro_batch is not None:
        network = InParts(network, recipe.micro_batch)
    return network if processes.count == 1 else DistributedDataParallel(network)


def has_batch_norm(model: nn.Module) -> bool:
    """Return whether a layer of the model needs more than one row at a time.

    Examples
    --------
    >>> has_batch_norm(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    True
    """
    return any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in model.modules())
