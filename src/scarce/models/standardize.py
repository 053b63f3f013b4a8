"""Columns brought to mean 0 and deviation 1, as the first layer of a model, so that it is saved with it."""

import torch
from torch import Tensor, nn

__all__ = ["Standardize"]


class Standardize(nn.Module):
    """(x − mean) / deviation, column by column; a column that is constant up to rounding is only centred.

    Examples
    --------
    >>> layer = Standardize(torch.tensor([1.0, 2.0]), torch.tensor([2.0, 0.0]))
    >>> layer(torch.tensor([[3.0, 5.0]])).tolist()
    [[1.0, 3.0]]
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        varies = deviation > torch.finfo(mean.dtype).eps * mean.abs()
        self.register_buffer("scale", torch.where(varies, deviation, torch.ones_like(deviation)))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the standardised inputs."""
        return (inputs - self.mean) / self.scale
