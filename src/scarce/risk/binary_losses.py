"""Binary losses ℓ(z) of a margin z: small where z is large and positive; and their means over the rows of each class."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_option

BinaryLoss = Callable[[Tensor], Tensor]

_MAX_EXPONENT = 30.0  # e^30 still squares within float32


def logistic(z: Tensor) -> Tensor:
    """log(1 + e^−z); convex, ℓ(−z) − ℓ(z) = z."""
    return -logsigmoid(z)


def sigmoid(z: Tensor) -> Tensor:
    """σ(−z); bounded and symmetric, ℓ(z) + ℓ(−z) = 1."""
    return torch.sigmoid(-z)


def square(z: Tensor) -> Tensor:
    """(1 − z)² / 4; convex, ℓ(−z) − ℓ(z) = z."""
    return (1 - z) ** 2 / 4


def exponential(z: Tensor) -> Tensor:
    """e^−z, with |z| clamped at 30 so that it cannot overflow."""
    return torch.exp(-z.clamp(-_MAX_EXPONENT, _MAX_EXPONENT))


def hinge(z: Tensor) -> Tensor:
    """max(0, 1 − z)."""
    return torch.relu(1 - z)


def double_hinge(z: Tensor) -> Tensor:
    """max(−z, max(0, (1 − z) / 2)); ℓ(−z) − ℓ(z) = z."""
    return torch.maximum(-z, torch.relu((1 - z) / 2))


def ramp(z: Tensor) -> Tensor:
    """(1 − z) / 2 clipped to [0, 1]; bounded and symmetric."""
    return ((1 - z) / 2).clamp(0, 1)


def savage(z: Tensor) -> Tensor:
    """4 σ(−z)²; bounded."""
    return 4 * torch.sigmoid(-z) ** 2


def tangent(z: Tensor) -> Tensor:
    """(2 arctan z − 1)²; bounded."""
    return (2 * torch.atan(z) - 1) ** 2


BINARY_LOSSES: dict[str, BinaryLoss] = {
    "logistic": logistic,
    "sigmoid": sigmoid,
    "square": square,
    "exponential": exponential,
    "hinge": hinge,
    "double-hinge": double_hinge,
    "ramp": ramp,
    "savage": savage,
    "tangent": tangent,
}

_LINEAR_DIFFERENCE = ("logistic", "square", "double-hinge")  # ℓ(−z) − ℓ(z) = z


def binary_loss(name: str) -> BinaryLoss:
    """Return the binary loss ℓ of that name.

    Parameters
    ----------
    name : str
        A key of `BINARY_LOSSES`.

    Returns
    -------
    callable
        ℓ; maps a tensor of margins to losses of the same shape.

    Raises
    ------
    MethodError
        If there is no loss of that name.

    See Also
    --------
    signed_losses : ℓ(z) and ℓ(−z) together.
    multiclass_loss : Losses of all classes together.

    Examples
    --------
    >>> round(binary_loss("logistic")(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    check_option("loss", name, BINARY_LOSSES)
    return BINARY_LOSSES[name]


def signed_losses(name: str, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return ℓ(z) and ℓ(−z), the losses of a positive and of a negative with score z.

    For losses with ℓ(−z) = ℓ(z) + z, this takes a third of the time of two evaluations.

    Parameters
    ----------
    name : str
        A key of `BINARY_LOSSES`.
    z : Tensor
        Scores, of any shape.

    Returns
    -------
    losses, negated_losses : Tensor
        ℓ(z) and ℓ(−z), of the shape of z.

    See Also
    --------
    class_sums : Their sums over a batch.

    Examples
    --------
    >>> [losses.tolist() for losses in signed_losses("hinge", torch.tensor([2.0, -2.0]))]
    [[0.0, 3.0], [3.0, 0.0]]
    """
    ell = binary_loss(name)
    losses = ell(z)
    return losses, losses + z if name in _LINEAR_DIFFERENCE else ell(-z)


def class_means(values: Tensor, rows: Tensor) -> Tensor:
    """Return the mean of every column of `values` over the `rows` of its class, or 0 if there are none.

    Parameters
    ----------
    values : Tensor of shape (n, q)
        The values.
    rows : Tensor of shape (n, q)
        1 where a row counts for a class, 0 elsewhere.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> class_means(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    return (rows * values).sum(dim=0) / rows.sum(dim=0).clamp(min=1)


def balanced_logistic_losses(g: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """½ mean_P ℓ(g_k) + ½ mean_N ℓ(−g_k) of every class k, ℓ being the logistic loss.

    P and N are the positive and negative rows of class k, and both sides have equal weight. At the minimum,
    g_k = log p(x | P) / p(x | N). The loss is 0 for a class without positive or without negative rows.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for positives.
    positive, negative : Tensor of shape (n, q)
        1 where a row is a positive or a negative of a class, 0 elsewhere, in the dtype of the scores.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> g, positive = torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])
    >>> round(balanced_logistic_losses(g, positive, 1 - positive).item(), 4)  # log 2
    0.6931
    """
    has_both = (positive.sum(dim=0) > 0) & (negative.sum(dim=0) > 0)
    return (class_means(logistic(g), positive) + class_means(logistic(-g), negative)) / 2 * has_both
