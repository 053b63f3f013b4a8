"""Models by name."""

from collections.abc import Callable

from torch import nn

from scarce._validation import check_option
from scarce.models.densenet import DenseNet
from scarce.models.lenet import LeNet
from scarce.models.linear import Linear
from scarce.models.mlp import MLP
from scarce.models.resnet import ResNet

__all__ = ["MODELS", "REVISION", "make_model"]

REVISION = 1
"""Raise when the same settings give other numbers; results of earlier revisions are then outdated."""

MODELS: dict[str, Callable[[tuple[int, ...], int], nn.Module]] = {
    "linear": Linear,
    "mlp": MLP,
    "lenet": LeNet,
    "resnet": ResNet,
    "densenet": DenseNet,
}


def make_model(name: str, input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """Make a network for inputs of that shape, with one output per class.

    Examples
    --------
    >>> make_model("linear", (4,), 3)
    Linear(
      (output): Linear(in_features=4, out_features=3, bias=True)
    )
    """
    check_option("model", name, MODELS, also="an nn.Module")
    return MODELS[name](input_shape, n_classes)
