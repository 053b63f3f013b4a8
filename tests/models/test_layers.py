"""Layers that several networks share."""

import pytest
import torch

from scarce.models._layers import as_images


@pytest.mark.parametrize("shape", [(3, 5, 6), (3, 1, 5, 6), (3, 2, 5, 6), (0, 5, 6), (0, 2, 5, 6)])
def test_as_images_keeps_pixels_in_channels_last_layout(shape):
    inputs = torch.rand(shape)
    images = as_images(inputs)
    assert torch.equal(images, inputs if len(shape) == 4 else inputs[:, None])
    assert images.stride(1) == 1
