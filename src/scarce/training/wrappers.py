"""The form in which a step shows rows to a model: compiled, with short numbers, in parts, shared between processes."""

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from scarce.errors import MethodError
from scarce.training.distributed import Processes
from scarce.training.parts import InParts
from scarce.training.recipe import Recipe
from scarce.training.sources import float_dtype

__all__ = ["Compiled", "InShortNumbers", "working_form"]


class Compiled(nn.Module):
    """A network that torch compiles when it is first called; it says so in one line if that cannot be.

    Parameters
    ----------
    network : nn.Module
        From rows to logits.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = torch.compile(network)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits."""
        from torch._dynamo.exc import BackendCompilerFailed  # takes a second to import, and is there by now

        try:
            logits: Tensor = self.network(rows)
        except BackendCompilerFailed as error:
            reason = str(error).strip().partition("\n")[0]
            raise MethodError(
                f"torch cannot compile the network ({reason}); install a C++ compiler such as g++, or leave out "
                "compile=True (--compile)."
            ) from error
        return logits


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
        return logits.to(float_dtype(self.network))


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
    network = Compiled(model) if recipe.compile else model
    if recipe.precision == "bf16":
        network = InShortNumbers(network)
    if recipe.micro_batch is not None:
        network = InParts(network, recipe.micro_batch)
    shared = processes.count > 1 and any(weight.requires_grad for weight in model.parameters())
    return DistributedDataParallel(network) if shared else network
