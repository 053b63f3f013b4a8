"""A weighted mean of the class probabilities of several models, as one model with a JSON description."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from scarce.models.densenet import DenseNet
from scarce.models.lenet import LeNet
from scarce.models.linear import Linear
from scarce.models.mlp import MLP
from scarce.models.nystroem import NystroemFeatures
from scarce.models.resnet import ResNet
from scarce.models.scale_columns import ScaleColumns
from scarce.models.scale_pixels import ScalePixels

_CONVOLUTIONAL: dict[str, type[LeNet] | type[ResNet] | type[DenseNet]] = {
    "lenet": LeNet,
    "resnet": ResNet,
    "densenet": DenseNet,
}


class Stack(nn.Module):
    """log Σ_j w_j softmax(f_j(x)), the logarithm of a weighted mean of the members' class probabilities.

    The log-weights are a frozen float64 parameter, so training and prediction pass inputs in float64.

    Parameters
    ----------
    members : sequence of nn.Module
        f_j, each mapping inputs of shape (n, ...) to logits of shape (n, q).
    weights : sequence of float
        w_j > 0; scaled to sum to one.

    See Also
    --------
    stack_from_description : Rebuild a saved stack.
    scarce.ScarceClassifier : Fits a stack by default.

    Examples
    --------
    >>> stack = Stack([Linear((2,), 3), Linear((2,), 3)], [0.75, 0.25])
    >>> stack(torch.zeros(4, 2)).exp().sum(dim=1).round(decimals=4).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    log_weights: nn.Parameter

    def __init__(self, members: Sequence[nn.Module], weights: Sequence[float]) -> None:
        super().__init__()
        values = torch.tensor(list(weights), dtype=torch.float64)
        self.log_weights = nn.Parameter((values / values.sum()).log(), requires_grad=False)
        self.members = nn.ModuleList(members)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return log-probabilities of shape (n, q) from n inputs."""
        log_probabilities = [
            torch.log_softmax(member(inputs).double(), dim=1) + log_weight
            for member, log_weight in zip(self.members, self.log_weights, strict=True)
        ]
        return torch.stack(log_probabilities).logsumexp(dim=0)

    def description(self) -> dict[str, Any]:
        """Return the layers of all members as JSON-serializable data; together with the `state_dict` it defines the stack."""
        return {
            "members": [[_layer_description(layer) for layer in _layers(member)] for member in self.members]
        }


def stack_from_description(description: Mapping[str, Any]) -> Stack:
    """Make a stack with the described layers; load its weights with `load_state_dict`.

    Parameters
    ----------
    description : dict
        From `Stack.description`.

    Returns
    -------
    Stack
        A stack whose weights are placeholders until they are loaded.

    Raises
    ------
    ValueError
        If the description names an unknown layer.

    See Also
    --------
    Stack : The model.

    Examples
    --------
    >>> stack = Stack([nn.Sequential(Linear((2,), 3))], [1.0])
    >>> again = stack_from_description(stack.description())
    >>> again.load_state_dict(stack.state_dict())
    <All keys matched successfully>
    """
    members = [nn.Sequential(*map(_layer_from_description, layers)) for layers in description["members"]]
    return Stack(members, [1.0] * len(members))


def _layers(member: nn.Module) -> list[nn.Module]:
    return list(member) if isinstance(member, nn.Sequential) else [member]


def _layer_description(layer: nn.Module) -> dict[str, Any]:
    match layer:
        case ScaleColumns():
            return {"layer": "scale-columns", "columns": len(layer.shift), "limit": layer.limit}
        case NystroemFeatures():
            return {"layer": "nystroem", "landmarks": list(layer.landmarks.shape)}
        case Linear():
            return {
                "layer": "linear",
                "inputs": layer.output.in_features,
                "outputs": layer.output.out_features,
            }
        case MLP():
            sizes = layer.hidden.in_features, layer.hidden.out_features, layer.output.out_features
            return dict(zip(("layer", "inputs", "hidden", "outputs"), ("mlp", *sizes), strict=True))
        case ScalePixels():
            return {"layer": "scale-pixels"}
        case LeNet() | ResNet() | DenseNet():
            name = next(name for name, kind in _CONVOLUTIONAL.items() if isinstance(layer, kind))
            return {"layer": name, "input_shape": list(layer.input_shape), "outputs": layer.n_classes}
    raise TypeError(
        f"a member has a layer {type(layer).__name__}; expected a layer that scales inputs or a network of scarce.models: "
        "build it from these."
    )


def _layer_from_description(layer: Mapping[str, Any]) -> nn.Module:
    match layer["layer"]:
        case "scale-columns":
            zeros = torch.zeros(layer["columns"])
            return ScaleColumns(zeros, zeros, layer["limit"])
        case "nystroem":
            m, d = layer["landmarks"]
            return NystroemFeatures(torch.zeros(m, d), torch.tensor(0.0), torch.zeros(m, m))
        case "linear":
            return Linear((layer["inputs"],), layer["outputs"])
        case "mlp":
            return MLP((layer["inputs"],), layer["outputs"], layer["hidden"])
        case "scale-pixels":
            return ScalePixels(0.0, 1.0)
        case "lenet" | "resnet" | "densenet":
            return _CONVOLUTIONAL[layer["layer"]](tuple(layer["input_shape"]), layer["outputs"])
    raise ValueError(
        f"layer {layer['layer']!r} is unknown; expected one of those that Stack.description() gives, such as linear or mlp."
    )
