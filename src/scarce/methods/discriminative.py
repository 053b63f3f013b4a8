"""L-UW and L-W: a classifier of the excluded class, from the softmax of 1 − p."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = ["DiscriminativeUnweighted", "DiscriminativeWeighted", "discriminative_losses"]

_PAPER = "Gao and Zhang, ICML 2021"
_ASSUMES = "nothing stated"


def discriminative_losses(logits: Tensor, k: Tensor, *, weighted: bool) -> Tensor:
    """−log q̃_k with q̃ = softmax(1 − p), times 1 + (1 − p_k)/(q − 1) if weighted.

    The inputs of the second softmax lie in [0, 1], so the loss is bounded and its gradients are weak.

    Examples
    --------
    >>> round(discriminative_losses(torch.zeros(1, 3), torch.tensor([0]), weighted=False).item(), 4)
    1.0986
    """
    p = torch.softmax(logits, dim=1)
    losses = -log_softmax(1 - p, dim=1).gather(1, k[:, None]).squeeze(1)
    if not weighted:
        return losses
    return losses * (1 + (1 - p.gather(1, k[:, None]).squeeze(1)) / (logits.shape[1] - 1))


@register
class DiscriminativeUnweighted(PairMethod):
    """Mean −log softmax(1 − p)_k."""

    facts = MethodFacts("l-uw", "discriminative, unweighted", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log softmax(1 − p)_k."""
        return discriminative_losses(logits, k, weighted=False)


@register
class DiscriminativeWeighted(PairMethod):
    """Mean −(1 + w_k) log softmax(1 − p)_k, w_k = (1 − p_k)/(q − 1)."""

    facts = MethodFacts("l-w", "discriminative, weighted", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−(1 + w_k) log softmax(1 − p)_k."""
        return discriminative_losses(logits, k, weighted=True)
