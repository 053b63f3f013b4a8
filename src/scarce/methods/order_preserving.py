"""OP and OP-W: the lower the logit of a class, the more likely it is to be excluded."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

_PAPER = "Liu et al., AISTATS 2023"
_URL = "https://proceedings.mlr.press/v206/liu23g.html"
_ASSUMES = "unlikely classes first"
_MAX_EXPONENT = 30.0  # beyond it the inner softmax of OP-W is one-hot anyway


def order_preserving_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−log softmax(−f)_k.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair.
    k : Tensor of shape (n,)
        The excluded class of each row.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> round(order_preserving_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    1.3863
    """
    return -log_softmax(-logits, dim=1).gather(1, k[:, None]).squeeze(1)


def weighted_order_preserving_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−w_k log r_k with r = softmax(−f) and w = p ⊙ softmax(1/r) + 10⁻⁶.

    The inner softmax of 1/r is nearly one-hot, so a row whose excluded class is not the predicted class has a weight of about
    10⁻⁶.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair; p = softmax(f).
    k : Tensor of shape (n,)
        The excluded class of each row.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> logits = torch.tensor([[5.0, 0.0, -5.0]])
    >>> [round(weighted_order_preserving_losses(logits, torch.tensor([k])).item(), 4) for k in range(3)]
    [9.9393, 0.0, 0.0]
    """
    log_r = log_softmax(-logits, dim=1)
    inverse = (-log_r).clamp(max=_MAX_EXPONENT).exp()
    weights = torch.softmax(logits, dim=1) * torch.softmax(inverse, dim=1) + 1e-6
    return -(weights * log_r).gather(1, k[:, None]).squeeze(1)


@register
class OrderPreserving(PairMethod):
    """Mean −log softmax(−f)_k over the pairs, k being the excluded class.

    The cross-entropy of the excluded class with negated logits [1]_. At its minimum, the order of the logits is the reverse of the
    order of the probabilities of being excluded.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    OrderPreservingWeighted : The weighted loss of the same paper.
    CPEIdentity : The cross-entropy of the excluded class, decoded with a transition matrix.
    scarce.functional.order_preserving_loss : The loss as a function.

    References
    ----------
    .. [1] S. Liu, Y. Cao, Q. Zhang, L. Feng and B. An, "Consistent Complementary-Label Learning via Order-Preserving
       Losses", AISTATS 2023. https://proceedings.mlr.press/v206/liu23g.html

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("op")
    OrderPreserving(pairs=False)
    """

    facts = MethodFacts("op", "order-preserving", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log softmax(−f)_k."""
        return order_preserving_losses(logits, k)


@register
class OrderPreservingWeighted(PairMethod):
    """Mean −w_k log softmax(−f)_k over the pairs, k being the excluded class.

    OP with weights w that concentrate on rows whose excluded class is the predicted class [1]_; see
    `weighted_order_preserving_losses`.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    OrderPreserving : The same loss without weights.
    scarce.functional.order_preserving_loss : The loss as a function.

    References
    ----------
    .. [1] S. Liu, Y. Cao, Q. Zhang, L. Feng and B. An, "Consistent Complementary-Label Learning via Order-Preserving
       Losses", AISTATS 2023. https://proceedings.mlr.press/v206/liu23g.html

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("op-w")
    OrderPreservingWeighted(pairs=False)
    """

    facts = MethodFacts(
        "op-w", "order-preserving, re-weighted", _PAPER, _ASSUMES, accepts=("single",), url=_URL
    )

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−w_k log softmax(−f)_k."""
        return weighted_order_preserving_losses(logits, k)
