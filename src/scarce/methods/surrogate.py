"""SCL-NL and SCL-EXP: a surrogate for the 0-1 loss on the excluded class."""

import torch
from torch import Tensor

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = [
    "SurrogateExponential",
    "SurrogateNegativeLearning",
    "exponential_surrogate_losses",
    "negative_learning_losses",
]

_PAPER = "Chou et al., ICML 2020"
_ASSUMES = "uniform label"


def negative_learning_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−log(1 − p_k) = log Σ_j e^{f_j} − log Σ_{j ≠ k} e^{f_j}.

    Examples
    --------
    >>> round(negative_learning_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    0.2877
    """
    others = logits.scatter(1, k[:, None], float("-inf"))
    return logits.logsumexp(dim=1) - others.logsumexp(dim=1)


def exponential_surrogate_losses(logits: Tensor, k: Tensor) -> Tensor:
    """e^{p_k} of every pair.

    Examples
    --------
    >>> round(exponential_surrogate_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    1.284
    """
    return torch.softmax(logits, dim=1).gather(1, k[:, None]).squeeze(1).exp()


@register
class SurrogateNegativeLearning(PairMethod):
    """Mean −log(1 − p_k)."""

    facts = MethodFacts("scl-nl", "negative learning", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log(1 − p_k)."""
        return negative_learning_losses(logits, k)


@register
class SurrogateExponential(PairMethod):
    """Mean e^{p_k}."""

    facts = MethodFacts("scl-exp", "exponential surrogate", _PAPER, _ASSUMES, accepts=("single",))

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """e^{p_k}."""
        return exponential_surrogate_losses(logits, k)
