"""A first layer that standardizes columns, so that mean and deviation are saved with the model."""

import torch
from torch import Tensor, nn

ROUNDING = 1e-12
"""A column whose standard deviation is a smaller fraction of its mean is constant up to rounding errors in float64."""


class Standardize(nn.Module):
    """(x − mean) / deviation, column by column; a column that is constant up to rounding is only centered.

    Parameters
    ----------
    mean, deviation : Tensor of shape (d,)
        Mean and standard deviation of each column.
    rest : Tensor of shape (d,), optional
        The rounding error of `mean`. If it is given, inputs are centered in float64 before they are converted to the dtype of
        `deviation`, so a column whose values differ far less than their size, such as a time in seconds, keeps its digits.

    See Also
    --------
    ScaleColumns : Any shift and factor, with a limit.

    Examples
    --------
    >>> layer = Standardize(torch.tensor([1.0, 2.0]), torch.tensor([2.0, 0.0]))
    >>> layer(torch.tensor([[3.0, 5.0]])).tolist()
    [[1.0, 3.0]]
    >>> times = Standardize(torch.tensor([1.7e9]), torch.tensor([2.0]), rest=torch.tensor([1.0]))
    >>> times(torch.tensor([[1.7e9 + 5]], dtype=torch.float64)).tolist()  # in float32, 1.7e9 is followed by 1.7e9 + 128
    [[2.0]]
    """

    mean: Tensor
    scale: Tensor
    rest: Tensor | None

    def __init__(self, mean: Tensor, deviation: Tensor, rest: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        rounding = torch.finfo(mean.dtype).eps if rest is None else ROUNDING
        varies = deviation > rounding * mean.abs()
        self.register_buffer("scale", torch.where(varies, deviation, torch.ones_like(deviation)))
        self.register_buffer("rest", rest)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the standardized inputs, of the shape (n, d) of the inputs."""
        if self.rest is None:
            return (inputs - self.mean) / self.scale
        return (inputs.double() - self.mean - self.rest).to(self.scale.dtype) / self.scale
