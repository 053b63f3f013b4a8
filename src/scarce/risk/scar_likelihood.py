"""The likelihood of exclusions under SCAR.

An example of class y excludes every other class k independently with probability c_k, and its own class with probability
ρ_y, by mistake. So

    P(Ȳ | x) = Π_k c_k^ȳ_k (1 − c_k)^(1 − ȳ_k) · Σ_y p_y r_y(ȳ_y),   r_y(1) = ρ_y / c_y,   r_y(0) = (1 − ρ_y) / (1 − c_y),

where the ratio r_y depends only on whether y is excluded. If every example has exactly one label by design, an example of class
y excludes k with probability T[y, k] = (1 − ρ_y) w_k / (W − w_y), and T[y, y] = ρ_y, where w = c / (1 − c) and W = Σ w. Similarly,

    T[y, k] / w_k = r_y(ȳ_y),   r_y(1) = ρ_y / w_y,   r_y(0) = (1 − ρ_y) / (W − w_y).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from scarce.risk.likelihood import EPS, safe_log


class LogRatios(NamedTuple):
    """log r, of shape (q,).

    Examples
    --------
    >>> scar_log_likelihood(torch.tensor([[1.0, 0.0]]), LogRatios(torch.tensor([0.5, 0.5]), torch.tensor([-1.0, -1.0]))).tolist()
    [[-1.0, 0.5]]
    """

    not_excluded: Tensor
    """log r_y(0)."""
    excluded: Tensor
    """log r_y(1)."""


def scar_log_likelihood(excluded: Tensor, ratios: LogRatios) -> Tensor:
    """log r_y(ȳ_y) of every row and class y.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded.
    ratios : LogRatios
        log r(0) and log r(1), each of shape (q,).

    Returns
    -------
    Tensor of shape (n, q)
        The log-likelihood of the labels of every row given each class, up to a constant per row.

    See Also
    --------
    scar_ratios, single_label_ratios : The ratios.
    marginal_nll : The loss.
    scarce.functional.scar_nll : The loss for your own training loop.

    Examples
    --------
    >>> ratios = scar_ratios(torch.tensor([0.5, 0.2]), torch.tensor([0.05, 0.0]))
    >>> scar_log_likelihood(torch.tensor([[1.0, 0.0]]), ratios).exp().round(decimals=4).tolist()
    [[0.1..., 1.25]]
    """
    return torch.where(excluded > 0, ratios.excluded, ratios.not_excluded)


def scar_ratios(exclusion_probabilities: Tensor, error_rate: Tensor) -> LogRatios:
    """log r(0) = log((1 − ρ) / (1 − c)) and log r(1) = log(ρ / c), for zero or more labels per example.

    Parameters
    ----------
    exclusion_probabilities : Tensor of shape (q,)
        c.
    error_rate : Tensor of shape (q,)
        ρ.

    Returns
    -------
    LogRatios
        Of shape (q,).

    See Also
    --------
    exclusion_probabilities : c from rates and priors.
    single_label_ratios : For exactly one label per example.

    Examples
    --------
    >>> ratios = scar_ratios(torch.tensor([0.5, 0.2]), torch.zeros(2))
    >>> ratios.not_excluded.exp().tolist()
    [2.0, 1.25]
    """
    return LogRatios(
        safe_log(1 - error_rate) - safe_log(1 - exclusion_probabilities),
        safe_log(error_rate) - safe_log(exclusion_probabilities),
    )


def exclusion_probabilities(rates: Tensor, priors: Tensor, error_rate: Tensor) -> Tensor:
    """c_k = (π̄_k − ρ_k π_k) / (1 − π_k), the probability that an example of another class excludes k.

    Parameters
    ----------
    rates : Tensor of shape (q,)
        π̄, the fraction of examples that exclude each class.
    priors : Tensor of shape (q,)
        π.
    error_rate : Tensor of shape (q,)
        ρ, the probability that an example excludes its own class.

    Returns
    -------
    Tensor of shape (q,)
        c, from 0 to 1.

    See Also
    --------
    single_label_weights : The same for exactly one label per example.

    Examples
    --------
    >>> exclusion_probabilities(torch.tensor([0.4, 0.1]), torch.tensor([0.2, 0.8]), torch.zeros(2)).round(decimals=4).tolist()
    [0.5, 0.5]
    """
    return ((rates - error_rate * priors) / (1 - priors).clamp(min=EPS)).clamp(0, 1)


def single_label_ratios(weights: Tensor, error_rate: Tensor) -> LogRatios:
    """log r(0) = log((1 − ρ) / (W − w)) and log r(1) = log(ρ / w), for exactly one label per example.

    Parameters
    ----------
    weights : Tensor of shape (q,)
        w; W is its sum.
    error_rate : Tensor of shape (q,)
        ρ.

    Returns
    -------
    LogRatios
        Of shape (q,).

    See Also
    --------
    single_label_weights : w from rates and priors.
    scar_ratios : For zero or more labels per example.

    Examples
    --------
    >>> ratios = single_label_ratios(torch.tensor([0.5, 0.25, 0.25]), torch.zeros(3))
    >>> ratios.not_excluded.exp().round(decimals=4).tolist()
    [2.0, 1.333..., 1.333...]
    """
    return LogRatios(
        safe_log(1 - error_rate) - safe_log(weights.sum() - weights),
        safe_log(error_rate) - safe_log(weights),
    )


def single_label_weights(
    rates: Tensor, priors: Tensor, error_rate: Tensor, start: Tensor | None = None, steps: int = 1000
) -> Tensor:
    """Solve π̄_k = ρ_k π_k + w_k Σ_{y ≠ k} π_y (1 − ρ_y) / (W − w_y) for w, with Σ w = 1.

    If every example has exactly one label, drawn with these weights, the rates of the labels are π̄. The fixed-point iteration
    is w_k ← (π̄_k − ρ_k π_k) / Σ_{y ≠ k} π_y (1 − ρ_y) / (W − w_y), followed by normalization.

    Parameters
    ----------
    rates : Tensor of shape (q,)
        π̄, the fraction of labeled examples that exclude each class; sums to one.
    priors : Tensor of shape (q,)
        π.
    error_rate : Tensor of shape (q,)
        ρ, the probability that an example excludes its own class.
    start : Tensor of shape (q,), optional
        The start of the iteration, such as an earlier solution; by default π̄ − ρ π.
    steps : int
        The maximum number of iterations.

    Returns
    -------
    Tensor of shape (q,)
        w.

    See Also
    --------
    single_label_ratios : The ratios of the likelihood.

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
    # A zero never grows again, but it may come from an earlier guess of priors or errors: start it from the target.
    w = target if start is None else torch.where(start > 0, start, target)
    # Sum over the other classes directly: subtracting one term from the total would lose all digits.
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
