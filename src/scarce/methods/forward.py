"""Forward: the likelihood of the excluded class under a known transition matrix."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts, Problem
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = ["Forward", "forward_losses"]


def forward_losses(logits: Tensor, k: Tensor, log_transition: Tensor) -> Tensor:
    """−log Σ_j p_j T_jk of every pair, as a log-sum-exp.

    Examples
    --------
    >>> uniform = (1 - torch.eye(3)) / 2
    >>> round(forward_losses(torch.zeros(1, 3), torch.tensor([1]), uniform.log()).item(), 4)
    1.0986
    """
    return -(log_softmax(logits, dim=1) + log_transition.T[k]).logsumexp(dim=1)


@register
class Forward(PairMethod):
    """Mean −log (p T)_k."""

    facts = MethodFacts(
        "forward",
        "forward correction",
        "Yu et al., ECCV 2018",
        "known matrix",
        needs_transition=True,
        accepts=("single",),
    )

    log_transition: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("log_transition", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Take the logarithm of the transition matrix."""
        super().prepare(problem)
        assert problem.transition is not None
        # A zero stays improbable instead of impossible: one wrong label must not make the loss infinite.
        self.log_transition = problem.transition.clamp(min=1e-12).log()

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log (p T)_k."""
        return forward_losses(logits, k, self.log_transition)
