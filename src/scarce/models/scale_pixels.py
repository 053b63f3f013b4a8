"""A first layer that scales the pixels of images to the range from 0 to 1."""

import torch
from torch import Tensor, nn


class ScalePixels(nn.Module):
    """(x − low) / (high − low), as float32.

    Parameters
    ----------
    low, high : float
        The smallest and the largest pixel value; they are scaled to 0 and 1.

    See Also
    --------
    ScaleColumns : Scale the columns of a table.

    Examples
    --------
    >>> ScalePixels(-1.0, 3.0)(torch.tensor([[[-1.0, 1.0]]], dtype=torch.float64)).tolist()
    [[[0.0, 0.5]]]
    """

    low: Tensor
    scale: Tensor

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor(low, dtype=torch.float32))
        self.register_buffer("scale", torch.tensor(max(high - low, 1e-12), dtype=torch.float32))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the scaled images, of the shape of the inputs."""
        return (inputs.float() - self.low) / self.scale
