"""OP and OP-W: the smaller its logit, the likelier a class is to be excluded."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = [
    "OrderPreserving",
    "OrderPreservingWeighted",
    "order_preserving_losses",
    "weighted_order_preserving_losses",
]

_PAPER = "Liu et al., AISTATS 2023"
_ASSUMES = "unlikely classes first"
_MAX_EXPONENT = 30.0  # beyond it the inner softmax of OP-W is one-hot anyway


def order_preserving_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−log softmax(−f)_k.

    Examples
    --------
    >>> round(order_preserving_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    1.3863
    """
    return -log_softmax(-logits, dim=1).gather(1, k[:, None]).squeeze(1)


def weighted_order_preserving_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−w_k log r_k with r = softmax(−f) and w = p ⊙ softmax(1/r) + 10⁻⁶.

    1/r makes the inner softmax nearly one-hot, so that a row whose excluded class is not the predicted one counts
    for about 10⁻⁶.

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
    """Mean −log softmax(−f)_k."""

    facts = MethodFacts("op", "order-preserving", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log softmax(−f)_k."""
        return order_preserving_losses(logits, k)


@register
class OrderPreservingWeighted(PairMethod):
    """Mean −w_k log softmax(−f)_k, re-weighted towards rows whose excluded class is the predicted one."""

    facts = MethodFacts("op-w", "order-preserving, re-weighted", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−w_k log softmax(−f)_k."""
        return weighted_order_preserving_losses(logits, k)
