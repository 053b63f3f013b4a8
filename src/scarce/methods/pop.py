"""POP: PRODEN that progressively purifies the candidates."""

import torch
from torch import Tensor

from scarce._validation import check_integer, check_number
from scarce.methods.base import MethodFacts, Problem
from scarce.methods.rc import SamePassMethod
from scarce.methods.registry import register

__all__ = ["POP", "purify"]

_MEMORY = 5
_EVERY = 5
_FEW = 1e-4
_HIGHEST = 0.4


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
    share = mean / mean.sum(dim=1, keepdim=True)
    kept = candidates & (share / share.amax(dim=1, keepdim=True) >= theta)
    confidence = share * kept
    confidence = confidence / confidence.sum(dim=1, keepdim=True)
    removed = int((candidates & ~kept).sum())
    grows = removed < _FEW * candidates.numel() and theta < _HIGHEST
    return kept, confidence, theta * (1 + growth) if grows else theta


@register
class POP(SamePassMethod):
    """PRODEN; from `warm_up` on, every fifth epoch, unlikely candidates are removed for good.

    Parameters
    ----------
    warm_up : int
        Epochs before the first removal.
    theta : float
        Candidates below this share of the likeliest are removed.
    growth : float
        By which factor, less one, θ grows when little was removed.
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
        """Make room for the latest confidences."""
        super().prepare(problem)
        self.memory = torch.zeros(_MEMORY, *self.confidence.shape)
        self.n_stored.zero_()
        self.theta_now.fill_(self.theta)

    def after_epoch(self, epoch: int) -> None:
        """Remember the confidences; purify when it is time."""
        self.memory[int(self.n_stored) % _MEMORY] = self.confidence
        self.n_stored += 1
        if epoch + 1 >= self.warm_up and (epoch + 1) % _EVERY == 0:
            mean = self.memory[: int(self.n_stored)].mean(dim=0)
            self.candidates, self.confidence, theta = purify(
                mean, self.candidates, float(self.theta_now), self.growth
            )
            self.theta_now.fill_(theta)
