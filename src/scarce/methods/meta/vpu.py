"""SCARCE-Meta with VPU, which needs no priors."""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_flag, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import MixupMethod
from scarce.methods.meta.base import class_means, class_probabilities, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk.mixture_proportion import Unlabeled, check_unlabeled

__all__ = ["MetaVPU", "log_not_k", "vpu_losses", "vpu_mixup_losses"]

_MIXUP_WEIGHT = 0.03


def vpu_losses(g: Tensor, excluded: Tensor, *, unlabeled: Unlabeled = "all") -> Tensor:
    """Return log mean_U Φ − mean_P log Φ of every class, with Φ = σ(g); 0 for a class without rows in P or in U.

    The minimiser is Φ ∝ p(y ≠ k | x), up to a factor that `log_not_k` takes out.

    Examples
    --------
    >>> g, excluded = torch.tensor([[0.0], [0.0]]), torch.tensor([[1.0], [0.0]])
    >>> vpu_losses(g, excluded).tolist()
    [0.0]
    """
    log_phi = logsigmoid(g)
    rows = unlabeled_rows(excluded, unlabeled)
    n_rows = rows.sum(dim=0)
    used = (excluded.sum(dim=0) > 0) & (n_rows > 0)
    # A column of nothing but −∞ would have no gradient, so that a class without unlabelled rows is not masked.
    summed = log_phi.masked_fill((rows == 0) & (n_rows > 0), -math.inf).logsumexp(dim=0)
    losses = summed - n_rows.clamp(min=1).log() - class_means(log_phi, excluded)
    return torch.where(used, losses, torch.zeros_like(losses))


def vpu_mixup_losses(g: Tensor, mixed: Tensor, pairs: Tensor, weight: float) -> Tensor:
    """Return mean (log Φ̃ − log Φ(x̃))² of every class over its pairs, with Φ̃ = λ Φ(x) + 1 − λ.

    x̃ = λ x + (1 − λ) x_P mixes a row with a positive, for which Φ is taken to be 1. The gradient goes through Φ̃ too.

    Parameters
    ----------
    g, mixed : Tensor of shape (B, q)
        Scores of the rows x, and of their mixtures x̃.
    pairs : Tensor of shape (B, q)
        1 where x is an unlabelled row of the class and its partner a positive.
    weight : float
        λ.

    Examples
    --------
    >>> g = torch.zeros(1, 1)
    >>> vpu_mixup_losses(g, g, torch.ones(1, 1), 1.0).tolist()
    [0.0]
    """
    lam = torch.tensor(weight, dtype=g.dtype, device=g.device)
    target = torch.logaddexp(lam.log() + logsigmoid(g), (1 - lam).log())
    return class_means((target - logsigmoid(mixed)) ** 2, pairs)


def log_not_k(g: Tensor, peak: Tensor) -> Tensor:
    """Return log Φ_k − max log Φ_k, the logarithm of p(y ≠ k | x) under VPU.

    Examples
    --------
    >>> g = torch.tensor([[0.0, 1.0], [2.0, 1.0]])
    >>> log_not_k(g, logsigmoid(g).amax(dim=0))[1].tolist()
    [0.0, 0.0]
    """
    return logsigmoid(g) - peak


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaVPU(MixupMethod):
    """Σ_k log mean_U Φ_k − mean_P log Φ_k, Φ = σ(g); the lowest Φ_k / max Φ_k over the training rows is predicted.

    Φ_k is found only up to a factor, which the division takes out: without it the classes could not be compared.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabelled; see `unlabeled_rows`.
    mixup : bool
        Whether to add 0.03 mean (log Φ̃ − log Φ(x̃))² over rows mixed with a positive; see `vpu_mixup_losses`.
        One mixture of the batch serves all classes: a pair counts for the classes that its second row excludes.
    """

    facts = MethodFacts("meta-vpu", "VPU per class", "Chen et al., NeurIPS 2020", "SCAR")
    predicts_with = ("peak",)
    needs_every_class = True
    mixup_alpha = 0.3

    peak: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", mixup: bool = False) -> None:
        super().__init__(unlabeled=unlabeled, mixup=mixup)
        check_unlabeled(unlabeled)
        check_flag("mixup", mixup)
        self.unlabeled: Unlabeled = unlabeled
        self.mixup = mixup
        self.register_buffer("peak", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start with a highest Φ of 1."""
        super().prepare(problem)
        self.peak = torch.zeros(problem.n_classes)

    def uses_mixup(self) -> bool:
        """Return the parameter `mixup`."""
        return self.mixup

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The variational loss of every class."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        losses = vpu_losses(g, excluded, unlabeled=self.unlabeled)
        if len(mixed) == 0 or self._mixup is None:
            return losses
        pairs = unlabeled_rows(excluded, self.unlabeled) * excluded[self._mixup.partner]
        return losses + _MIXUP_WEIGHT * vpu_mixup_losses(g, mixed, pairs, self._mixup.weight)

    def after_epoch(self, epoch: int) -> None:
        """Find the highest Φ of every class."""
        self.peak = logsigmoid(self.scores_seen).amax(dim=0)

    def scores(self, logits: Tensor) -> Tensor:
        """−(log Φ_k − max log Φ_k)."""
        return -log_not_k(-logits, self.peak)

    def probabilities(self, logits: Tensor) -> Tensor:
        """1 − Φ_k / max Φ_k, made to sum to one."""
        return class_probabilities(self.scores(logits))
