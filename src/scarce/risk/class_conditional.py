"""The likelihood of exclusions whose chances depend on the true class: C[y, k] = P(marked "not k" | class y)."""

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
    """Σ_k ȳ_k log C[y, k] + (1 − ȳ_k) log(1 − C[y, k]), marks independent given the class.

    SCAR is the case of a matrix whose columns are constant off the diagonal; the diagonal holds errors.

    Examples
    --------
    >>> C = torch.tensor([[0.0, 0.5], [0.25, 0.0]])
    >>> class_conditional_log_likelihood(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), C).exp().tolist()
    [[0.5, 7...e-13], [0.5, 0.75]]
    """
    marked, unmarked = safe_log(exclusion_matrix), safe_log(1 - exclusion_matrix)
    return excluded @ (marked - unmarked).T + unmarked.sum(dim=1)


def single_label_log_likelihood(excluded: Tensor, transition: Tensor) -> Tensor:
    """log T[y, k] of every row and class, k being the one mark of the row: the evidence of `forward`.

    Examples
    --------
    >>> T = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> single_label_log_likelihood(torch.tensor([[0.0, 1.0]]), T).tolist()
    [[0.0, -27.6310...]]
    """
    return excluded @ safe_log(transition).T


def estimate_scar_strength(rates: Tensor, expected: Tensor, named: Tensor) -> Tensor:
    """How many rows' worth of belief in SCAR the spread of counted rates about those expected under it bears out.

    Let the chances of classes be spread about SCAR's c_k as a beta distribution with the weight s would have them, with the
    variance φ c_k (1 − c_k), φ = 1 / (1 + s). Counted over N_y rows each, Pearson's statistic over the q (q − 1) wrong classes,
    X² = Σ N_y (R[y, k] − c_k)² / (c_k (1 − c_k)), then exceeds q (q − 1) by φ Σ (N_y − 1). Where it does not, SCAR
    is believed without bound; at least one row's worth is always.

    Parameters
    ----------
    rates, expected : tensors of shape (q, q)
        R[y, k], the share of the rows named y that exclude k, and what it would be under SCAR.
    named : tensor of shape (q,)
        N: how many rows were named y.

    Examples
    --------
    >>> expected = torch.tensor([[0.0, 0.2, 0.2], [0.2, 0.0, 0.2], [0.2, 0.2, 0.0]])
    >>> apart = torch.tensor([[0.0, 0.1, 0.3], [0.3, 0.0, 0.1], [0.1, 0.3, 0.0]])
    >>> [f"{estimate_scar_strength(rates, expected, torch.full((3,), 1000.0)):.1e}" for rates in (apart, expected)]
    ['1.5e+01', '1.0e+12']
    """
    wrong = ~torch.eye(len(named), dtype=torch.bool, device=named.device) & (named > 0)[:, None]
    sizes = named[:, None].expand_as(rates)[wrong]
    spread = ((rates - expected) ** 2 / (expected * (1 - expected)).clamp(min=EPS))[wrong]
    surplus = (sizes * spread - 1).sum() / (sizes - 1).sum().clamp(min=1)
    weight: Tensor = (1 / surplus.clamp(min=EPS) - 1).clamp(min=1)
    return weight


def estimate_exclusion_matrix(
    counts: Tensor,
    named: Tensor,
    beliefs: Tensor,
    scar_strength: float | None = None,
    error_rate: float | None = None,
) -> Tensor:
    """C from rows that were given names: how many exclude which class, and what is believed of their classes.

    Rows named y exclude k at the rate R[y, k] = counts[y, k] / named[y]. Some are of other classes y′, if beliefs are right
    M[y, y′] = beliefs[y, y′] / named[y] of them, so R = M C, and C = M⁻¹ R. To both, s rows are added that are what they are named
    and have the rates of SCAR, those of all rows of other names: so no row of C is ever empty.

    Parameters
    ----------
    counts : tensor of shape (q, q)
        How many rows named y exclude k.
    named : tensor of shape (q,)
        How many rows were named y.
    beliefs : tensor of shape (q, q)
        The sum over rows named y of their probabilities of being y′.
    scar_strength : float, optional
        s; by default as many as the counts themselves bear out (`estimate_scar_strength`).
    error_rate : float, optional
        What stands on the diagonal of C, the chance that a row excludes its own class; by default what comes out.

    Examples
    --------
    A tenth of what is named the first class is of the second:

    >>> true = torch.tensor([[0.0, 0.3], [0.1, 0.0]])
    >>> mixed = torch.tensor([[0.9, 0.1], [0.0, 1.0]])
    >>> estimate_exclusion_matrix(100 * mixed @ true, torch.tensor([100.0, 100.0]), 100 * mixed, scar_strength=0.0)
    tensor([[0.0000, 0.3000],
            [0.1000, 0.0000]])
    """
    own = counts.diagonal()
    elsewhere = (counts.sum(dim=0) - own) / (named.sum() - named).clamp(min=1)
    mistakes = own.sum() / named.sum().clamp(min=1)
    expected = elsewhere.expand_as(counts).diagonal_scatter(mistakes.expand_as(own))
    if scar_strength is None:
        size = named.clamp(min=EPS)[:, None]
        scar_strength = float(estimate_scar_strength(counts / size, beliefs @ expected / size, named))
    weight = (named + scar_strength)[:, None]
    rates = torch.where(weight > 0, (counts + scar_strength * expected) / weight.clamp(min=EPS), expected)
    mixture = beliefs / weight.clamp(min=EPS)
    left = 1 - mixture.sum(dim=1)  # of the added rows, or all of a name that nothing has
    solved: Tensor = torch.linalg.solve_ex(mixture + left.diag(), rates).result
    # Names that nobody can tell apart cannot be told apart here either.
    exclusion_matrix = torch.where(solved.isfinite(), solved, rates).clamp(0, 1)
    return (
        exclusion_matrix
        if error_rate is None
        else exclusion_matrix.diagonal_scatter(torch.full_like(own, error_rate))
    )


def single_label_transition(exclusion_matrix: Tensor) -> Tensor:
    """T[y, k] for exactly one mark per row: the chances of wrong classes, made to fill what the error C[y, y] leaves.

    Examples
    --------
    >>> single_label_transition(torch.tensor([[0.1, 0.2, 0.1], [0.5, 0.0, 0.5], [1.0, 1.0, 0.0]]))[0]
    tensor([0.1000, 0.6000, 0.3000])
    """
    own = exclusion_matrix.diagonal()
    others = exclusion_matrix - exclusion_matrix.diag().diag()
    return others / others.sum(dim=1, keepdim=True).clamp(min=EPS) * (1 - own)[:, None] + own.diag()
