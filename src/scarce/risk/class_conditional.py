"""The likelihood of exclusions that depend on the true class: C[y, k] = P(k is excluded | class y)."""

import torch
from torch import Tensor

from scarce.risk.likelihood import EPS, safe_log

__all__ = [
    "class_conditional_log_likelihood",
    "estimate_exclusion_matrix",
    "single_label_log_likelihood",
    "single_label_transition",
    "estimate_scar_strength",
]


def class_conditional_log_likelihood(excluded: Tensor, exclusion_matrix: Tensor) -> Tensor:
    """Σ_k ȳ_k log C[y, k] + (1 − ȳ_k) log(1 − C[y, k]), exclusions independent given the class.

    SCAR is the case of a matrix whose columns are constant off the diagonal; the diagonal holds errors.

    Examples
    --------
    >>> C = torch.tensor([[0.0, 0.5], [0.25, 0.0]])
    >>> class_conditional_log_likelihood(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), C).exp().tolist()
    [[0.5, 7...e-13], [0.5, 0.75]]
    """
    log_excluded, log_not_excluded = safe_log(exclusion_matrix), safe_log(1 - exclusion_matrix)
    return excluded @ (log_excluded - log_not_excluded).T + log_not_excluded.sum(dim=1)


def single_label_log_likelihood(excluded: Tensor, transition: Tensor) -> Tensor:
    """log T[y, k] of every row and class, k being the one excluded class of the row: the log-likelihood of `forward`.

    Examples
    --------
    >>> T = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> single_label_log_likelihood(torch.tensor([[0.0, 1.0]]), T).tolist()
    [[0.0, -27.6310...]]
    """
    return excluded @ safe_log(transition).T


def estimate_scar_strength(rates: Tensor, expected: Tensor, n_predicted: Tensor) -> Tensor:
    """Return the prior strength of SCAR, in rows, that fits the spread of counted rates about those expected under SCAR.

    Let the probabilities of classes be spread about SCAR's c_k as a beta distribution of strength s, with the
    variance φ c_k (1 − c_k), φ = 1 / (1 + s). Counted over N_y rows each, Pearson's statistic over the q (q − 1) wrong classes,
    X² = Σ N_y (R[y, k] − c_k)² / (c_k (1 − c_k)), then exceeds q (q − 1) by φ Σ (N_y − 1). Where it does not, the
    strength is unbounded; it is at least 1.

    Parameters
    ----------
    rates, expected : tensors of shape (q, q)
        R[y, k], the fraction of the rows predicted y that exclude k, and what it would be under SCAR.
    n_predicted : tensor of shape (q,)
        N: how many rows were predicted y.

    Examples
    --------
    >>> expected = torch.tensor([[0.0, 0.2, 0.2], [0.2, 0.0, 0.2], [0.2, 0.2, 0.0]])
    >>> apart = torch.tensor([[0.0, 0.1, 0.3], [0.3, 0.0, 0.1], [0.1, 0.3, 0.0]])
    >>> [f"{estimate_scar_strength(rates, expected, torch.full((3,), 1000.0)):.1e}" for rates in (apart, expected)]
    ['1.5e+01', '1.0e+12']
    """
    is_wrong_class = ~torch.eye(len(n_predicted), dtype=torch.bool, device=n_predicted.device)
    used = is_wrong_class & (n_predicted > 0)[:, None]
    n_rows = n_predicted[:, None].expand_as(rates)[used]
    spread = ((rates - expected) ** 2 / (expected * (1 - expected)).clamp(min=EPS))[used]
    overdispersion = (n_rows * spread - 1).sum() / (n_rows - 1).sum().clamp(min=1)
    strength: Tensor = (1 / overdispersion.clamp(min=EPS) - 1).clamp(min=1)
    return strength


def estimate_exclusion_matrix(
    counts: Tensor,
    n_predicted: Tensor,
    posterior_sums: Tensor,
    scar_strength: float | None = None,
    error_rate: float | None = None,
) -> Tensor:
    """Estimate C from predicted classes: how many rows exclude which class, and the posteriors of their classes.

    Rows predicted y exclude k at the rate R[y, k] = counts[y, k] / n_predicted[y]. Some are of other classes y′, by the
    posteriors M[y, y′] = posterior_sums[y, y′] / n_predicted[y] of them, so R = M C, and C = M⁻¹ R. To both, s rows are added
    whose prediction is right and which have the rates of SCAR, those of all rows of other predictions: so no row of C is ever
    empty.

    Parameters
    ----------
    counts : tensor of shape (q, q)
        How many rows predicted y exclude k.
    n_predicted : tensor of shape (q,)
        How many rows were predicted y.
    posterior_sums : tensor of shape (q, q)
        The sum over rows predicted y of their posterior probabilities of y′.
    scar_strength : float, optional
        s; by default estimated from the counts (`estimate_scar_strength`).
    error_rate : float, optional
        The diagonal of C, the probability that a row excludes its own class; by default it is estimated too.

    Examples
    --------
    A tenth of the rows predicted the first class are of the second:

    >>> true = torch.tensor([[0.0, 0.3], [0.1, 0.0]])
    >>> mixed = torch.tensor([[0.9, 0.1], [0.0, 1.0]])
    >>> estimate_exclusion_matrix(100 * mixed @ true, torch.tensor([100.0, 100.0]), 100 * mixed, scar_strength=0.0)
    tensor([[0.0000, 0.3000],
            [0.1000, 0.0000]])
    """
    diagonal = counts.diagonal()
    scar_rates = (counts.sum(dim=0) - diagonal) / (n_predicted.sum() - n_predicted).clamp(min=1)
    mean_error_rate = diagonal.sum() / n_predicted.sum().clamp(min=1)
    expected = scar_rates.expand_as(counts).diagonal_scatter(mean_error_rate.expand_as(diagonal))
    if scar_strength is None:
        size = n_predicted.clamp(min=EPS)[:, None]
        scar_strength = float(
            estimate_scar_strength(counts / size, posterior_sums @ expected / size, n_predicted)
        )
    n_total = (n_predicted + scar_strength)[:, None]
    rates = torch.where(n_total > 0, (counts + scar_strength * expected) / n_total.clamp(min=EPS), expected)
    mixture = posterior_sums / n_total.clamp(min=EPS)
    remainder = 1 - mixture.sum(dim=1)  # of the added rows, or all of a class that is never predicted
    solved: Tensor = torch.linalg.solve_ex(mixture + remainder.diag(), rates).result
    # If M is singular, the counted rates are the estimate.
    exclusion_matrix = torch.where(solved.isfinite(), solved, rates).clamp(0, 1)
    return (
        exclusion_matrix
        if error_rate is None
        else exclusion_matrix.diagonal_scatter(torch.full_like(diagonal, error_rate))
    )


def single_label_transition(exclusion_matrix: Tensor) -> Tensor:
    """T[y, k] for exactly one label per row: the probabilities of wrong classes, scaled to sum to 1 − C[y, y].

    Examples
    --------
    >>> single_label_transition(torch.tensor([[0.1, 0.2, 0.1], [0.5, 0.0, 0.5], [1.0, 1.0, 0.0]]))[0]
    tensor([0.1000, 0.6000, 0.3000])
    """
    diagonal = exclusion_matrix.diagonal()
    off_diagonal = exclusion_matrix - exclusion_matrix.diag().diag()
    return (
        off_diagonal / off_diagonal.sum(dim=1, keepdim=True).clamp(min=EPS) * (1 - diagonal)[:, None]
        + diagonal.diag()
    )
