"""The likelihood of exclusions whose chances depend on the true class: C[y, k] = P(marked "not k" | class y)."""

from torch import Tensor

from scarce.risk.evidence import LEAST, log_chance

__all__ = ["conditional_evidence", "implied_chances", "one_mark_evidence", "one_mark_transition"]


def conditional_evidence(excluded: Tensor, chances: Tensor) -> Tensor:
    """Σ_k ȳ_k log C[y, k] + (1 − ȳ_k) log(1 − C[y, k]), marks independent given the class.

    SCAR is the case of a matrix whose columns are constant off the diagonal; the diagonal holds errors.

    Examples
    --------
    >>> import torch
    >>> C = torch.tensor([[0.0, 0.5], [0.25, 0.0]])
    >>> conditional_evidence(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), C).exp().tolist()
    [[0.5, 7...e-13], [0.5, 0.75]]
    """
    marked, unmarked = log_chance(chances), log_chance(1 - chances)
    return excluded @ (marked - unmarked).T + unmarked.sum(dim=1)


def one_mark_evidence(excluded: Tensor, transition: Tensor) -> Tensor:
    """log T[y, k] of every row and class, k being the one mark of the row: the evidence of `forward`.

    Examples
    --------
    >>> import torch
    >>> T = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> one_mark_evidence(torch.tensor([[0.0, 1.0]]), T).tolist()
    [[0.0, -27.6310...]]
    """
    return excluded @ log_chance(transition).T


def implied_chances(counts: Tensor, named: Tensor, strength: float, errors: float | None = 0.0) -> Tensor:
    """C[y, k] from rows that were given classes: how many were named y, and how many of these exclude k.

    Off the diagonal, C[y, k] = (counts[y, k] + s c_k) / (named[y] + s), drawn by the strength s, a number of rows, towards
    what SCAR would have: c_k, the share of rows named otherwise than k that exclude k. So no row of C is ever empty.

    Parameters
    ----------
    counts : tensor of shape (q, q)
        How many rows named y exclude k.
    named : tensor of shape (q,)
        How many rows were named y.
    strength : float
        s.
    errors : float, optional
        What stands on the diagonal, the chance that a row excludes its own class; by default what was counted, drawn
        towards the mean of all classes.

    Examples
    --------
    >>> import torch
    >>> counts = torch.tensor([[0.0, 30.0], [10.0, 0.0]])
    >>> implied_chances(counts, torch.tensor([100.0, 100.0]), strength=0.0).tolist()
    [[0.0, 0.3...], [0.1..., 0.0]]
    """
    own = counts.diagonal()
    pooled = (counts.sum(dim=0) - own) / (named.sum() - named).clamp(min=1)
    chances = (counts + strength * pooled) / (named[:, None] + strength).clamp(min=1)
    if errors is None:
        diagonal = (own + strength * own.sum() / named.sum()) / (named + strength).clamp(min=1)
    else:
        diagonal = own.new_full(own.shape, errors)
    return chances.diagonal_scatter(diagonal).clamp(0, 1)


def one_mark_transition(chances: Tensor) -> Tensor:
    """T[y, k] for exactly one mark per row: the chances of wrong classes, made to fill what the error C[y, y] leaves.

    Examples
    --------
    >>> import torch
    >>> one_mark_transition(torch.tensor([[0.1, 0.2, 0.1], [0.5, 0.0, 0.5], [1.0, 1.0, 0.0]]))[0]
    tensor([0.1000, 0.6000, 0.3000])
    """
    own = chances.diagonal()
    others = chances - chances.diag().diag()
    return others / others.sum(dim=1, keepdim=True).clamp(min=LEAST) * (1 - own)[:, None] + own.diag()
