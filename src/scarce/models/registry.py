"""Networks by name."""

from collections.abc import Callable

from torch import nn

from scarce._validation import check_option
from scarce.models.densenet import DenseNet
from scarce.models.lenet import LeNet
from scarce.models.linear import Linear
from scarce.models.mlp import MLP
from scarce.models.resnet import ResNet

REVISION = 1
"""Increment when the same settings give different numbers; results of earlier revisions are then outdated."""

MODELS: dict[str, Callable[[tuple[int, ...], int], nn.Module]] = {
    "linear": Linear,
    "mlp": MLP,
    "lenet": LeNet,
    "resnet": ResNet,
    "densenet": DenseNet,
}


def make_model(name: str, input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """Make a network by name, for inputs of the given shape and with one output per class.

    Parameters
    ----------
    name : {"linear", "mlp", "lenet", "resnet", "densenet"}
        A key of `MODELS`.
    input_shape : tuple of int
        The shape of one input: (d,) for tables, (h, w) or (c, h, w) for images.
    n_classes : int
        q.

    Returns
    -------
    nn.Module
        Maps n inputs to logits of shape (n, q).

    Raises
    ------
    MethodError
        If the name is unknown, or the network does not accept inputs of that shape.

    See Also
    --------
    Linear, MLP, LeNet, ResNet, DenseNet : The networks.
    scarce.ScarceClassifier : Accepts a name or your own module as ``module``.

    Examples
    --------
    >>> make_model("linear", (4,), 3)
    Linear(
      (output): Linear(in_features=4, out_features=3, bias=True)
    )
    """
    check_option("model", name, MODELS, also="an nn.Module")
    return MODELS[name](input_shape, n_classes)
