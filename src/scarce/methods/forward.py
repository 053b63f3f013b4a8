"""Forward correction: the likelihood of the excluded class under a known transition matrix."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts, Problem
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = ["Forward", "forward_losses"]


def forward_losses(logits: Tensor, k: Tensor, log_transition: Tensor) -> Tensor:
    """−log Σ_j p_j T_jk with p = softmax(f), computed as a log-sum-exp.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair.
    k : Tensor of shape (n,)
        The excluded class of each row.
    log_transition : Tensor of shape (q, q)
        log T, where T_jk is the probability that k is excluded if the true class is j.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> uniform = (1 - torch.eye(3)) / 2
    >>> round(forward_losses(torch.zeros(1, 3), torch.tensor([1]), uniform.log()).item(), 4)
    1.0986
    """
    return -(log_softmax(logits, dim=1) + log_transition.T[k]).logsumexp(dim=1)


@register
class Forward(PairMethod):
    """Mean −log (p T)_k over the pairs, p = softmax(f) and k the excluded class.

    Maximum likelihood of the excluded class under a known transition matrix T [1]_. The matrix is passed to the classifier as
    `transition`.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    CPEFixedTransition : The same loss; predicts the class with the nearest row of T.
    Refine : Estimates the matrix from the labels.
    scarce.functional.forward_loss : The loss as a function.

    References
    ----------
    .. [1] X. Yu, T. Liu, M. Gong, D. Tao, "Learning with Biased Complementary Labels", ECCV, 2018.
       https://arxiv.org/abs/1711.09535

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("forward")
    Forward(pairs=False)
    """

    facts = MethodFacts(
        "forward",
        "forward correction",
        "Yu et al., ECCV 2018",
        "known matrix",
        needs_transition=True,
        accepts=("single",),
        url="https://arxiv.org/abs/1711.09535",
    )

    log_transition: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("log_transition", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Compute the logarithm of the transition matrix."""
        super().prepare(problem)
        assert problem.transition is not None
        # Zeros become tiny probabilities, so one wrong label does not make the loss infinite.
        self.log_transition = problem.transition.clamp(min=1e-12).log()

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log (p T)_k."""
        return forward_losses(logits, k, self.log_transition)
