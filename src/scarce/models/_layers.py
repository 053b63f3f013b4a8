"""Helpers for convolutional networks: image inputs, convolutions and their initial weights."""

import math

import torch
from torch import Tensor, nn

from scarce.errors import MethodError


def n_channels(input_shape: tuple[int, ...], name: str, min_side: int = 4) -> int:
    """Return the number of channels of images of shape (h, w) or (c, h, w), with sides of at least `min_side` pixels."""
    if len(input_shape) not in (2, 3):
        raise MethodError(
            f"{name} takes images, got inputs of shape {input_shape}; choose module='mlp' (--module)."
        )
    if min(input_shape[-2:]) < min_side:
        fix = "put the channels first (c × h × w), or " * (
            len(input_shape) == 3 and input_shape[2] in (1, 3, 4)
        )
        raise MethodError(
            f"{name} takes images of {min_side} × {min_side} pixels or more, got {input_shape}; "
            f"{fix}choose module='mlp' (--module)."
        )
    return input_shape[0] if len(input_shape) == 3 else 1


def as_images(inputs: Tensor) -> Tensor:
    """Return images of shape (n, h, w) or (n, c, h, w) as (n, c, h, w) in channels-last memory format, which is faster on CPU."""
    if inputs.dim() == 4 and inputs.shape[1] > 1:
        return inputs.contiguous(memory_format=torch.channels_last)
    return inputs.reshape(len(inputs), *inputs.shape[-2:], 1).movedim(-1, 1)


def convolution(n_in: int, n_out: int, size: int, stride: int = 1) -> nn.Conv2d:
    """Return a convolution without bias, padded so that only the stride changes the size of an image."""
    return nn.Conv2d(n_in, n_out, size, stride=stride, padding=size // 2, bias=False)


def init_convolutions(model: nn.Module) -> None:
    """Draw the weights of all convolutions from N(0, 2 / (size² · n_out)), like the SCARCE authors' program."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            fan = layer.kernel_size[0] * layer.kernel_size[1] * layer.out_channels
            nn.init.normal_(layer.weight, std=math.sqrt(2 / fan))
