"""CVIR: leave out the unlabelled rows that look most positive (Garg et al., 2021)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce.pu.sets import Unlabeled, class_means, unlabeled_rows

__all__ = ["cvir_kept", "cvir_losses"]


def cvir_kept(g: Tensor, excluded: Tensor, share: Tensor, *, unlabeled: Unlabeled = "all") -> Tensor:
    """Return which rows are kept as negatives: the unlabelled without the ⌊θ |U_k|⌋ of highest score, as bool (n, q).

    Examples
    --------
    >>> g, excluded = torch.tensor([[3.0], [2.0], [1.0], [0.0]]), torch.tensor([[0.0], [1.0], [0.0], [0.0]])
    >>> cvir_kept(g, excluded, torch.tensor([0.5])).flatten().tolist()
    [False, False, True, True]
    >>> cvir_kept(g, excluded, torch.tensor([0.5]), unlabeled="rest").flatten().tolist()
    [False, False, True, True]
    """
    rows = unlabeled_rows(excluded, unlabeled) > 0
    ranked = g.masked_fill(~rows, -math.inf).argsort(dim=0, descending=True, stable=True)
    n_dropped = (share * rows.sum(dim=0)).floor()
    places = torch.arange(len(g), device=g.device)[:, None].expand_as(g)
    kept = torch.empty_like(rows).scatter_(0, ranked, places >= n_dropped)
    return kept & rows


def cvir_losses(g: Tensor, excluded: Tensor, kept: Tensor) -> Tensor:
    """Return ½ mean_P ℓ(g) + ½ mean_kept ℓ(−g) of every class, ℓ logistic; 0 for one without positives or kept rows.

    Examples
    --------
    >>> g, excluded = torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])
    >>> round(cvir_losses(g, excluded, excluded == 0).item(), 4)
    0.6931
    """
    kept = kept.to(g)
    used = (excluded.sum(dim=0) > 0) & (kept.sum(dim=0) > 0)
    return (class_means(-logsigmoid(g), excluded) + class_means(-logsigmoid(-g), kept)) / 2 * used
