"""POP: PRODEN that progressively removes unlikely candidates."""

import torch
from torch import Tensor

from scarce._validation import check_integer, check_number
from scarce.methods.base import MethodFacts, Problem
from scarce.methods.rc import SamePassMethod
from scarce.methods.registry import register

_N_STORED_EPOCHS = 5
_PURIFY_EVERY = 5
_MIN_REMOVED_FRACTION = 1e-4
_MAX_THETA = 0.4


def purify(mean: Tensor, candidates: Tensor, theta: float, growth: float) -> tuple[Tensor, Tensor, float]:
    """Remove the candidates with r_j / max r < θ, r being the mean of the latest confidences, normalized to sum to one.

    θ is then multiplied by 1 + growth if fewer than 10⁻⁴ of all n × q entries were removed and θ < 0.4.

    Parameters
    ----------
    mean : Tensor of shape (n, q)
        The mean of the latest confidences.
    candidates : Tensor of bool, shape (n, q)
        The candidates so far.
    theta : float
        θ.
    growth : float
        The relative growth of θ.

    Returns
    -------
    candidates : Tensor of bool, shape (n, q)
        The candidates that remain.
    confidence : Tensor of shape (n, q)
        r over the remaining candidates, normalized.
    theta : float
        The next θ.

    Examples
    --------
    >>> mean, S = torch.tensor([[0.7, 0.29, 0.01]]), torch.tensor([[True, True, True]])
    >>> candidates, confidence, theta = purify(mean, S, 0.1, 0.001)
    >>> candidates.tolist(), theta
    ([[True, True, False]], 0.1)
    """
    r = mean / mean.sum(dim=1, keepdim=True)
    kept = candidates & (r / r.amax(dim=1, keepdim=True) >= theta)
    confidence = r * kept
    confidence = confidence / confidence.sum(dim=1, keepdim=True)
    n_removed = int((candidates & ~kept).sum())
    grows = n_removed < _MIN_REMOVED_FRACTION * candidates.numel() and theta < _MAX_THETA
    return kept, confidence, theta * (1 + growth) if grows else theta


@register
class POP(SamePassMethod):
    """−mean Σ_j C_ij log p_ij, p = softmax(f) and C_i the confidence of example i in its candidates.

    PRODEN with purification [1]_: after `warm_up` epochs, every fifth epoch permanently removes candidates whose confidence
    is below a fraction θ of the largest.

    Parameters
    ----------
    warm_up : int
        Epochs before the first removal.
    theta : float
        Initial θ, from 0 to 1.
    growth : float
        Relative growth of θ after a purification that removed few candidates.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        C.
    theta_now : Tensor of shape ()
        The current θ.

    See Also
    --------
    PRODEN : The same method without purification.
    IDGP : Models candidates that depend on the example with a second network.
    scarce.functional.rc_loss : The loss as a function; takes C.

    References
    ----------
    .. [1] N. Xu, B. Liu, J. Lv, C. Qiao and X. Geng, "Progressive Purification for Instance-Dependent Partial Label
       Learning", ICML 2023. https://arxiv.org/abs/2206.00830

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("pop", warm_up=10)
    POP(warm_up=10, theta=0.001, growth=0.001)
    """

    facts = MethodFacts(
        "pop",
        "progressive purification",
        "Xu et al., ICML 2023",
        "truth is a candidate",
        url="https://arxiv.org/abs/2206.00830",
    )

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
        """Allocate memory for the latest confidences."""
        super().prepare(problem)
        self.memory = torch.zeros(_N_STORED_EPOCHS, *self.confidence.shape)
        self.n_stored.zero_()
        self.theta_now.fill_(self.theta)

    def after_epoch(self, epoch: int) -> None:
        """Store the confidences; after the warm-up, purify every fifth epoch."""
        self.memory[int(self.n_stored) % _N_STORED_EPOCHS] = self.confidence
        self.n_stored += 1
        if epoch + 1 >= self.warm_up and (epoch + 1) % _PURIFY_EVERY == 0:
            mean = self.memory[: int(self.n_stored)].mean(dim=0)
            self.candidates, self.confidence, theta = purify(
                mean, self.candidates, float(self.theta_now), self.growth
            )
            self.theta_now.fill_(theta)
