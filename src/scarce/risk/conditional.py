"""The likelihood of exclusions whose chances depend on the true class: C[y, k] = P(marked "not k" | class y)."""

from torch import Tensor

from scarce.risk.evidence import log_chance

__all__ = ["conditional_evidence", "one_mark_evidence"]


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
