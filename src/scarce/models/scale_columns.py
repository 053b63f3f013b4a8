"""A first layer that shifts and scales columns in float64, without loss of precision."""

from torch import Tensor, nn


class ScaleColumns(nn.Module):
    """clip((x − shift) · factor, −limit, limit), computed in float64 and returned as float32.

    Thanks to float64, large values such as Unix times, about 1.7e9 seconds, keep their precision. A factor of 0 drops a column, for
    example one that was constant in the training data.

    Parameters
    ----------
    shift : Tensor of shape (d,)
        The offset subtracted from each column.
    factor : Tensor of shape (d,)
        The factor of each shifted column.
    limit : float
        The largest absolute value of an output; infinite by default.

    See Also
    --------
    Standardize : Scale columns to mean 0 and standard deviation 1.

    Examples
    --------
    >>> import torch
    >>> layer = ScaleColumns(torch.tensor([1.7e9, 5.0]), torch.tensor([2.0, 0.0]), limit=6.0)
    >>> layer(torch.tensor([[1.7e9 + 1, 8.0], [1.7e9 + 9, 5.0]], dtype=torch.float64)).tolist()
    [[2.0, 0.0], [6.0, 0.0]]
    """

    shift: Tensor
    factor: Tensor

    def __init__(self, shift: Tensor, factor: Tensor, limit: float = float("inf")) -> None:
        super().__init__()
        self.register_buffer("shift", shift.double())
        self.register_buffer("factor", factor.double())
        self.limit = limit

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the scaled inputs of shape (n, d) as float32."""
        scaled = (inputs.double() - self.shift) * self.factor
        return scaled.clamp(-self.limit, self.limit).float()
