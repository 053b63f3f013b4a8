"""VPU: the variational principle, which needs no share (Chen et al., 2020)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce.pu.sets import Unlabeled, class_means, unlabeled_rows

__all__ = ["log_not_k", "vpu_losses", "vpu_mixup_losses"]


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
    share = torch.tensor(weight, dtype=g.dtype, device=g.device)
    target = torch.logaddexp(share.log() + logsigmoid(g), (1 - share).log())
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
