"""The multi-layer perceptron of the SCARCE paper."""

from math import prod

from torch import Tensor, nn
from torch.nn.functional import dropout


class MLP(nn.Module):
    """f(x) = W₂ max(0, W₁ x + b₁) + b₂ on flattened inputs x. For MNIST, its layers have 784, 500 and q units.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input, such as (d,).
    n_classes : int
        q.
    hidden : int
        The number of hidden units.

    Attributes
    ----------
    dropout : float
        The dropout rate of the hidden units; 0 unless the training recipe sets it.

    See Also
    --------
    Linear : No hidden layer.
    make_model : Networks by name.

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
        """Return logits of shape (n, q) from n inputs."""
        hidden = self.hidden(inputs.flatten(1)).relu()
        return self.output(dropout(hidden, self.dropout, self.training))  # type: ignore[no-any-return]
