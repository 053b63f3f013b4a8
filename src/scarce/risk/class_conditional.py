"""The likelihood of exclusions that depend on the true class: C[y, k] = P(k is excluded | class y)."""

import torch
from torch import Tensor

from scarce.risk.likelihood import EPS, safe_log


def class_conditional_log_likelihood(excluded: Tensor, exclusion_matrix: Tensor) -> Tensor:
    """Σ_k ȳ_k log C[y, k] + (1 − ȳ_k) log(1 − C[y, k]), where exclusions are independent given the class y.

    SCAR is the special case in which each column of C is constant off the diagonal. The diagonal holds the error rates.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded.
    exclusion_matrix : Tensor of shape (q, q)
        C, one row per true class.

    Returns
    -------
    Tensor of shape (n, q)
        The log-likelihood of every row, given each class.

    See Also
    --------
    single_label_log_likelihood : For exactly one exclusion per row.
    scar_log_likelihood : Under SCAR.
    estimate_exclusion_matrix : Estimate C.

    Examples
    --------
    >>> C = torch.tensor([[0.0, 0.5], [0.25, 0.0]])
    >>> class_conditional_log_likelihood(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), C).exp().tolist()
    [[0.5, 7...e-13], [0.5, 0.75]]
    """
    log_excluded, log_not_excluded = safe_log(exclusion_matrix), safe_log(1 - exclusion_matrix)
    return excluded @ (log_excluded - log_not_excluded).T + log_not_excluded.sum(dim=1)


def single_label_log_likelihood(excluded: Tensor, transition: Tensor) -> Tensor:
    """log T[y, k] of every row and class y, where the row excludes exactly one class k: the forward correction [1]_.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded; at most one per row.
    transition : Tensor of shape (q, q)
        T[y, k] = P(k is excluded | class y).

    Returns
    -------
    Tensor of shape (n, q)
        The log-likelihood of every row, given each class; 0 for a row without an exclusion.

    See Also
    --------
    class_conditional_log_likelihood : For zero or more exclusions per row.
    single_label_transition : T from a matrix of exclusion probabilities.

    References
    ----------
    .. [1] X. Yu, T. Liu, M. Gong and D. Tao, "Learning with Biased Complementary Labels", ECCV 2018.
       https://arxiv.org/abs/1711.09535

    Examples
    --------
    >>> T = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> single_label_log_likelihood(torch.tensor([[0.0, 1.0]]), T).tolist()
    [[0.0, -27.6310...]]
    """
    return excluded @ safe_log(transition).T


def estimate_scar_strength(rates: Tensor, expected: Tensor, n_predicted: Tensor) -> Tensor:
    """Estimate the strength s of a beta prior that shrinks C toward SCAR, in rows, from the spread of the counted rates.

    Assume that C[y, k] has a beta distribution around SCAR's c_k with variance φ c_k (1 − c_k), where φ = 1 / (1 + s). Pearson's
    statistic over the q (q − 1) pairs of different classes, X² = Σ N_y (R[y, k] − c_k)² / (c_k (1 − c_k)), then exceeds q (q − 1)
    by φ Σ (N_y − 1) on average; solving for φ gives s. If X² is smaller than q (q − 1), s is practically infinite. s is at
    least 1.

    Parameters
    ----------
    rates : Tensor of shape (q, q)
        R[y, k], the fraction of the rows predicted y that exclude k.
    expected : Tensor of shape (q, q)
        c_k, the rates expected under SCAR; the diagonal is not used.
    n_predicted : Tensor of shape (q,)
        N_y, how many rows are predicted y.

    Returns
    -------
    Tensor of shape ()
        s.

    See Also
    --------
    estimate_exclusion_matrix : Uses s.

    Examples
    --------
    >>> expected = torch.tensor([[0.0, 0.2, 0.2], [0.2, 0.0, 0.2], [0.2, 0.2, 0.0]])
    >>> spread = torch.tensor([[0.0, 0.1, 0.3], [0.3, 0.0, 0.1], [0.1, 0.3, 0.0]])
    >>> [f"{estimate_scar_strength(rates, expected, torch.full((3,), 1000.0)):.1e}" for rates in (spread, expected)]
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
    """C = M⁻¹ R, estimated from predicted classes: R holds the rates of exclusions, M the true classes behind each prediction.

    Rows predicted y exclude k at the rate R[y, k] = counts[y, k] / n_predicted[y]. A fraction
    M[y, y′] = posterior_sums[y, y′] / n_predicted[y] of these rows belongs to class y′, so R = M C. As a prior, s rows are added to
    every predicted class. They count as predicted correctly and exclude k at its rate under SCAR, the rate among all rows that
    are not predicted k. C is therefore defined even for a class that is never predicted.

    Parameters
    ----------
    counts : Tensor of shape (q, q)
        How many rows predicted y exclude k.
    n_predicted : Tensor of shape (q,)
        How many rows are predicted y.
    posterior_sums : Tensor of shape (q, q)
        The posterior probabilities of y′, summed over the rows predicted y.
    scar_strength : float, optional
        s; by default, it is estimated from the counts (`estimate_scar_strength`).
    error_rate : float, optional
        The diagonal of C, the probability that a row excludes its own class; by default, it is estimated too.

    Returns
    -------
    Tensor of shape (q, q)
        C[y, k] = P(k is excluded | class y), from 0 to 1.

    See Also
    --------
    class_conditional_log_likelihood : The likelihood under C.
    single_label_transition : T from C, for one label per row.
    scarce.methods.Refine : The method that uses it.

    Examples
    --------
    A tenth of the rows predicted as the first class belong to the second:

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
    remainder = 1 - mixture.sum(dim=1)  # the added rows; all of them for a class that is never predicted
    solved: Tensor = torch.linalg.solve_ex(mixture + remainder.diag(), rates).result
    # Where M is singular, use the counted rates.
    exclusion_matrix = torch.where(solved.isfinite(), solved, rates).clamp(0, 1)
    return (
        exclusion_matrix
        if error_rate is None
        else exclusion_matrix.diagonal_scatter(torch.full_like(diagonal, error_rate))
    )


def single_label_transition(exclusion_matrix: Tensor) -> Tensor:
    """T[y, k] = (1 − C[y, y]) C[y, k] / Σ_{j ≠ y} C[y, j] and T[y, y] = C[y, y], for exactly one label per row.

    Parameters
    ----------
    exclusion_matrix : Tensor of shape (q, q)
        C[y, k], a weight of every wrong class k of class y; the diagonal holds the error rates.

    Returns
    -------
    Tensor of shape (q, q)
        T[y, k] = P(k is excluded | class y); its rows sum to one.

    See Also
    --------
    single_label_log_likelihood : The likelihood under T.

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
