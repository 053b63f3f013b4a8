"""A first layer that scales the channels of images."""

import torch
from torch import Tensor, nn


class ScaleChannels(nn.Module):
    """(x − mean) / deviation for each channel of an image, as float32; a constant channel is only centered.

    Parameters
    ----------
    mean, deviation : Tensor of shape (c,)
        Mean and standard deviation of the pixels of each channel. Images without channels, of shape (n, h, w), have c = 1.

    See Also
    --------
    Standardize : The same for the columns of a table.

    Examples
    --------
    >>> layer = ScaleChannels(torch.tensor([0.5]), torch.tensor([0.25]))
    >>> layer(torch.tensor([[[0.0, 1.0]]], dtype=torch.float64)).tolist()
    [[[-2.0, 2.0]]]
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean.float()[:, None, None])
        self.register_buffer("scale", torch.where(deviation > 0, deviation, 1.0).float()[:, None, None])

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the scaled images, of the shape of the inputs."""
        return (inputs.float() - self.mean) / self.scale
