"""Dist-PU: the scores of positives and unlabelled rows are distributed as their labels are (Zhao et al., 2022)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from scarce.pu.sets import Unlabeled, class_means, unlabeled_rows

__all__ = ["binary_entropy", "dist_pu_losses", "entropy_weight", "mixed_losses"]

_LIMIT = 10.0
_FINAL_WEIGHT = 0.004


def binary_entropy(g: Tensor) -> Tensor:
    """Return H(σ(g)) in nats; |g| is clamped at 10, beyond which there is nothing left to sharpen.

    Examples
    --------
    >>> round(binary_entropy(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    z = g.clamp(-_LIMIT, _LIMIT)
    return softplus(z) - z * torch.sigmoid(z)


def dist_pu_losses(
    g: Tensor,
    excluded: Tensor,
    share: Tensor,
    *,
    mu: float = 0.002,
    weight: float | None = None,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """Return |m_P − 1| + w |m_U − θ| + μ mean_U H(σ(g)) of every class, m_P and m_U the means of σ(g).

    A class that no row excludes lacks the first term.

    Parameters
    ----------
    g, excluded, share, unlabeled
        As in `scarce.pu.pu_risks`.
    mu : float
        μ.
    weight : float, optional
        w; by default 1 / 2θ, as published for shares below a half. Where w is below 1, raising all scores alike lowers
        the loss, and σ(g) = 1 everywhere attracts.

    Examples
    --------
    >>> g, excluded = torch.tensor([[9.0], [-9.0]]), torch.tensor([[1.0], [0.0]])
    >>> dist_pu_losses(g, excluded, torch.tensor([0.5])).item() < 0.001
    True
    """
    chance, rows = torch.sigmoid(g), unlabeled_rows(excluded, unlabeled)
    present = excluded.sum(dim=0) > 0
    weights = 1 / (2 * share.clamp(min=1e-6)) if weight is None else weight
    positives = (class_means(chance, excluded) - 1).abs() * present
    others = (class_means(chance, rows) - share).abs() * weights
    return positives + others + mu * class_means(binary_entropy(g), rows)


def mixed_losses(mixed: Tensor, target: Tensor) -> Tensor:
    """Return mean BCE(σ(g̃), λ a + (1 − λ) b) of every class, from scores g̃ of the mixtures λ x_a + (1 − λ) x_b.

    The cross-entropy is linear in its target, so that this is λ BCE(σ(g̃), a) + (1 − λ) BCE(σ(g̃), b).

    Examples
    --------
    >>> mixed_losses(torch.zeros(1, 1), torch.tensor([[0.3]])).tolist()
    [0.69314...]
    """
    return binary_cross_entropy_with_logits(mixed, target, reduction="none").mean(dim=0)


def entropy_weight(epoch: int, period: int) -> float:
    """Return 0.004 (1 − cos(π t / 2T)), which rises from 0 to 0.004 and stays there.

    Examples
    --------
    >>> entropy_weight(0, 20), round(entropy_weight(30, 20), 6)
    (0.0, 0.004)
    """
    return _FINAL_WEIGHT * (1 - math.cos(math.pi / 2 * min(epoch / period, 1.0)))
