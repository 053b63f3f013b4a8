"""Networks by name. Any `nn.Module` that maps a batch of inputs to logits of shape (n, q) works as well."""

from scarce.models.densenet import DenseNet
from scarce.models.lenet import LeNet
from scarce.models.linear import Linear
from scarce.models.mlp import MLP
from scarce.models.nystroem import NystroemFeatures
from scarce.models.registry import MODELS, make_model
from scarce.models.resnet import ResNet
from scarce.models.scale_columns import ScaleColumns
from scarce.models.scale_pixels import ScalePixels
from scarce.models.stack import Stack, stack_from_description
from scarce.models.standardize import Standardize

__all__ = [
    "MLP",
    "MODELS",
    "DenseNet",
    "LeNet",
    "Linear",
    "NystroemFeatures",
    "ResNet",
    "ScaleColumns",
    "ScalePixels",
    "Stack",
    "Standardize",
    "make_model",
    "stack_from_description",
]
