"""POP: PRODEN that progressively purifies the candidates."""

import torch
from torch import Tensor

from scarce._validation import check_integer, check_number
from scarce.methods.base import MethodFacts, Problem
from scarce.methods.rc import SamePassMethod
from scarce.methods.registry import register

__all__ = ["POP", "purify"]

_N_STORED_EPOCHS = 5
_PURIFY_EVERY = 5
_MIN_REMOVED_FRACTION = 1e-4
_MAX_THETA = 0.4


def purify(mean: Tensor, candidates: Tensor, theta: float, growth: float) -> tuple[Tensor, Tensor, float]:
    """Remove candidates with q_j / max q < θ; return candidates, confidence and the next θ.

    q is the mean of the latest confidences, made to sum to one. θ grows by the factor 1 + growth when fewer than
    10⁻⁴ n q entries were removed and it is still below 0.4.

    Examples
    --------
    >>> mean, S = torch.tensor([[0.7, 0.29, 0.01]]), torch.tensor([[True, True, True]])
    >>> candidates, confidence, theta = purify(mean, S, 0.1, 0.001)
    >>> candidates.tolist(), theta
    ([[True, True, False]], 0.1)
    """
    q = mean / mean.sum(dim=1, keepdim=True)
    kept = candidates & (q / q.amax(dim=1, keepdim=True) >= theta)
    confidence = q * kept
    confidence = confidence / confidence.sum(dim=1, keepdim=True)
    n_removed = int((candidates & ~kept).sum())
    grows = n_removed < _MIN_REMOVED_FRACTION * candidates.numel() and theta < _MAX_THETA
    return kept, confidence, theta * (1 + growth) if grows else theta


@register
class POP(SamePassMethod):
    """PRODEN; from `warm_up` on, every fifth epoch, unlikely candidates are removed for good.

    Parameters
    ----------
    warm_up : int
        Epochs before the first removal.
    theta : float
        Candidates whose probability is below this fraction of the largest are removed.
    growth : float
        The relative growth of θ when few candidates were removed.
    """

    facts = MethodFacts("pop", "progressive purification", "Xu et al., ICML 2023", "truth is a candidate")

    theta_now: Tensor
    memory: Tensor
    n_stored: Tensor

    def __init__(self, warm_up: int = 20, theta: float = 1e-3, growth: float = 1e-3) -> None:
        super().__init__(warm_up=warm_up, theta=theta, growth=growth)
        check_integer("warm_up", warm_up)
        check_number("theta", theta, high=1)  # above 1 even the likeliest candidate would be removed
        check_number("growth", growth, high=1)
        self.warm_up, self.theta, self.growth = warm_up, theta, growth
        self.register_buffer("theta_now", torch.tensor(theta))
        self.register_buffer("memory", torch.empty(0))
        self.register_buffer("n_stored", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Allocate the latest confidences."""
        super().prepare(problem)
        self.memory = torch.zeros(_N_STORED_EPOCHS, *self.confidence.shape)
        self.n_stored.zero_()
        self.theta_now.fill_(self.theta)

    def after_epoch(self, epoch: int) -> None:
        """Store the confidences; every fifth epoch after the warm-up, purify."""
        self.memory[int(self.n_stored) % _N_STORED_EPOCHS] = self.confidence
        self.n_stored += 1
        if epoch + 1 >= self.warm_up and (epoch + 1) % _PURIFY_EVERY == 0:
            mean = self.memory[: int(self.n_stored)].mean(dim=0)
            self.candidates, self.confidence, theta = purify(
                mean, self.candidates, float(self.theta_now), self.growth
            )
            self.theta_now.fill_(theta)
