"""A linear model."""

from math import prod

from torch import Tensor, nn

__all__ = ["Linear"]


class Linear(nn.Module):
    """f(x) = W x + b on flattened inputs.

    Examples
    --------
    >>> import torch
    >>> Linear((4,), 3)(torch.zeros(2, 4)).shape
    torch.Size([2, 3])
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(prod(input_shape), n_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits of shape (B, q)."""
        return self.output(inputs.flatten(1))  # type: ignore[no-any-return]
