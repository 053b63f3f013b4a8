"""A linear model."""

from math import prod

from torch import Tensor, nn


class Linear(nn.Module):
    """f(x) = W x + b on flattened inputs x.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input, such as (d,).
    n_classes : int
        q.

    See Also
    --------
    MLP : One hidden layer.
    make_model : Networks by name.

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
        """Return logits of shape (n, q) from n inputs."""
        return self.output(inputs.flatten(1))  # type: ignore[no-any-return]
