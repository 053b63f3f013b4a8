"""The likelihood of exclusions under SCAR.

An example of class y excludes k with probability c_k for every k ≠ y, independently, and with probability ρ_y,
an error, for k = y. So

    P(Ȳ | x) = Π_k c_k^ȳ_k (1 − c_k)^(1 − ȳ_k) · Σ_y p_y r_y(ȳ_y),   r_y(1) = ρ_y / c_y,   r_y(0) = (1 − ρ_y) / (1 − c_y):

one number per class, by whether the class is excluded. If every example has exactly one label by design, it excludes k
with probability T[y, k] = (1 − ρ_y) w_k / (W − w_y), T[y, y] = ρ_y, where w = c / (1 − c) and W = Σ w; again

    T[y, k] / w_k = r_y(ȳ_y),   r_y(1) = ρ_y / w_y,   r_y(0) = (1 − ρ_y) / (W − w_y).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from scarce.risk.likelihood import EPS, safe_log

__all__ = [
    "LogRatios",
    "exclusion_probabilities",
    "single_label_ratios",
    "single_label_weights",
    "scar_log_likelihood",
    "scar_ratios",
]


class LogRatios(NamedTuple):
    """log r, of shape (q,)."""

    not_excluded: Tensor
    """log r_y(0)."""
    excluded: Tensor
    """log r_y(1)."""


def scar_log_likelihood(excluded: Tensor, ratios: LogRatios) -> Tensor:
    """log r_y(ȳ_y) of every row and class.

    Examples
    --------
    >>> ratios = scar_ratios(torch.tensor([0.5, 0.2]), torch.tensor([0.05, 0.0]))
    >>> scar_log_likelihood(torch.tensor([[1.0, 0.0]]), ratios).exp().round(decimals=4).tolist()
    [[0.1..., 1.25]]
    """
    return torch.where(excluded > 0, ratios.excluded, ratios.not_excluded)


def scar_ratios(exclusion_probabilities: Tensor, error_rate: Tensor) -> LogRatios:
    """log (1 − ρ)/(1 − c) and log ρ/c, for zero or more labels per example."""
    return LogRatios(
        safe_log(1 - error_rate) - safe_log(1 - exclusion_probabilities),
        safe_log(error_rate) - safe_log(exclusion_probabilities),
    )


def exclusion_probabilities(rates: Tensor, priors: Tensor, error_rate: Tensor) -> Tensor:
    """c_k = (π̄_k − ρ_k π_k) / (1 − π_k), from the rates π̄ at which classes are excluded.

    Examples
    --------
    >>> exclusion_probabilities(torch.tensor([0.4, 0.1]), torch.tensor([0.2, 0.8]), torch.zeros(2)).round(decimals=4).tolist()
    [0.5, 0.5]
    """
    return ((rates - error_rate * priors) / (1 - priors).clamp(min=EPS)).clamp(0, 1)


def single_label_ratios(weights: Tensor, error_rate: Tensor) -> LogRatios:
    """log (1 − ρ)/(W − w) and log ρ/w, for exactly one label per example."""
    return LogRatios(
        safe_log(1 - error_rate) - safe_log(weights.sum() - weights),
        safe_log(error_rate) - safe_log(weights),
    )


def single_label_weights(
    rates: Tensor, priors: Tensor, error_rate: Tensor, start: Tensor | None = None, steps: int = 1000
) -> Tensor:
    """w, with Σ w = 1, for which exactly one label per example gives the rates π̄.

    π̄_k = ρ_k π_k + w_k Σ_{y ≠ k} π_y (1 − ρ_y) / (W − w_y) is solved by w_k ← w_k (π̄_k − ρ_k π_k) / (w_k Σ …), from
    `start`, in at most `steps` steps.

    Examples
    --------
    >>> rates, thirds = torch.tensor([0.5, 0.25, 0.25]), torch.full((3,), 1 / 3)
    >>> w = single_label_weights(rates, thirds, torch.zeros(3))
    >>> T = w / (1 - w[:, None]) * (1 - torch.eye(3))
    >>> torch.allclose(thirds @ T, rates)
    True
    """
    target = (rates - error_rate * priors).clamp(min=0)
    target = target / target.sum().clamp(min=EPS)
    # A zero could never grow again, even if only an earlier guess of priors or errors had led to it.
    w = target if start is None else torch.where(start > 0, start, target)
    # Sums over the other classes are computed as such: subtracting one term from the total would lose all digits.
    others = 1 - torch.eye(len(w), dtype=w.dtype, device=w.device)
    for _ in range(steps):
        current = w * (others @ (priors * (1 - error_rate) / (others @ w).clamp(min=EPS)))
        updated = w * torch.where(current > 0, target / current.clamp(min=EPS), 0.0)
        updated = updated / updated.sum().clamp(min=EPS)
        converged = bool((updated - w).abs().max() < EPS)
        w = updated
        if converged:
            break
    return w
