"""Columns brought to a common scale in float64, as the first layer of a model, so that no precision is lost."""

from torch import Tensor, nn

__all__ = ["ScaleColumns"]


class ScaleColumns(nn.Module):
    """clip((x − shift) · factor, ± limit), computed in float64 and returned as float32.

    The difference is taken in float64: a column of Unix seconds, about 1.7e9, keeps its digits. A factor of 0 ignores
    a column, as one that was constant has to be.

    Parameters
    ----------
    shift, factor : tensors of shape (d,)
        What is subtracted, and what the difference is multiplied by.
    limit : float
        No output is larger; infinite by default.

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
        """Return the scaled inputs as float32."""
        scaled = (inputs.double() - self.shift) * self.factor
        return scaled.clamp(-self.limit, self.limit).float()
