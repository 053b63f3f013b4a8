"""The paper's multi-layer perceptron."""

from math import prod

from torch import Tensor, nn
from torch.nn.functional import dropout

__all__ = ["MLP"]


class MLP(nn.Module):
    """One hidden layer of 500 rectified units on flattened inputs: 784-500-q for MNIST, as in the paper.

    Attributes
    ----------
    dropout : float
        The dropout rate of the hidden units; set by the recipe of the training.

    Examples
    --------
    >>> sum(weights.numel() for weights in MLP((28, 28), 10).parameters())
    397510
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int, hidden: int = 500) -> None:
        super().__init__()
        self.hidden = nn.Linear(prod(input_shape), hidden)
        self.output = nn.Linear(hidden, n_classes)
        self.dropout = 0.0

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits of shape (B, q)."""
        hidden = self.hidden(inputs.flatten(1)).relu()
        return self.output(dropout(hidden, self.dropout, self.training))  # type: ignore[no-any-return]
