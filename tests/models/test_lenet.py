"""LeNet: its layers, and the inputs it accepts."""

import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d, linear, max_pool2d, relu

from scarce.errors import MethodError
from scarce.models import LeNet, make_model


def test_lenet_equals_two_convolutions_and_three_layers():
    model = LeNet((28, 28), 10)
    one, two, three, four, five = (
        (layer.weight, layer.bias) for layer in model.modules() if isinstance(layer, (nn.Conv2d, nn.Linear))
    )
    images = torch.rand(2, 28, 28)
    hidden = max_pool2d(relu(conv2d(images.unsqueeze(1), *one, padding=2)), 2)
    hidden = max_pool2d(relu(conv2d(hidden, *two)), 2).flatten(1)
    assert hidden.shape == (2, 400)
    expected = linear(relu(linear(relu(linear(hidden, *three)), *four)), *five)
    torch.testing.assert_close(model(images), expected)


@pytest.mark.parametrize("shape", [(10,), (1, 3, 28, 28)])
def test_lenet_rejects_inputs_other_than_images(shape):
    with pytest.raises(MethodError, match=r"lenet takes images, got inputs of shape .*; choose module='mlp'"):
        make_model("lenet", shape, 3)


@pytest.mark.parametrize("shape", [(11, 28), (28, 11), (3, 8, 8)])
def test_lenet_rejects_small_images(shape):
    with pytest.raises(MethodError, match=r"images of 12 × 12 pixels or more, got .*; choose module='mlp'"):
        make_model("lenet", shape, 3)
