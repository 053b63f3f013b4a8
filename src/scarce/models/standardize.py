"""A first layer that standardizes columns, so that their means and standard deviations are saved with the model."""

import torch
from torch import Tensor, nn

ROUNDING = 1e-12
"""A column counts as constant if its standard deviation is a smaller fraction of its mean, a rounding error in float64."""


class Standardize(nn.Module):
    """(x − mean) / deviation for each column; a column that is constant up to rounding is only centered.

    Parameters
    ----------
    mean, deviation : Tensor of shape (d,)
        Mean and standard deviation of each column.
    rest : Tensor of shape (d,), optional
        The rounding error of `mean`: the exact mean minus `mean`. If given, inputs are centered in float64 and then converted to
        the dtype of `deviation`. A column of large values that vary little, such as Unix times, then keeps its precision.

    See Also
    --------
    ScaleColumns : Shift and scale columns by any values, and clip them.

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
        """Return the standardized inputs of shape (n, d)."""
        if self.rest is None:
            return (inputs - self.mean) / self.scale
        return (inputs.double() - self.mean - self.rest).to(self.scale.dtype) / self.scale
