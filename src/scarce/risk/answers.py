"""The likelihood of answers to "is it class k?", given by people who may be wrong."""

import torch
from torch import Tensor

from scarce.risk.evidence import log_chance

__all__ = ["answer_evidence"]


def answer_evidence(
    shape: tuple[int, int], row: Tensor, asked: Tensor, yes: Tensor, miss: Tensor, false: Tensor
) -> tuple[Tensor, Tensor]:
    """Return e of shape (B, q) and the constant a of shape (B,): Σ_j log P(answer_j | y) = e_y + a.

    P(yes | y = k) = 1 − miss and P(yes | y ≠ k) = false for a question about class k. Only e_k depends on the class.

    Parameters
    ----------
    shape : tuple
        (B, q).
    row, asked, yes : tensors of shape (m,)
        Which row of the batch each answer is about, which class, and whether it was "yes".
    miss, false : tensors of shape (m,)
        The error rates of who gave the answer.

    Examples
    --------
    >>> zero = torch.zeros(1)
    >>> e, a = answer_evidence((1, 3), torch.tensor([0]), torch.tensor([2]), torch.tensor([False]), zero, zero)
    >>> (e + a[:, None]).exp().round(decimals=4).tolist()  # "no" to the last class
    [[1.0, 1.0, 0.0]]
    """
    if_it_is = log_chance(torch.where(yes, 1 - miss, miss))
    if_not = log_chance(torch.where(yes, false, 1 - false))
    evidence = torch.zeros(shape, dtype=miss.dtype, device=miss.device)
    evidence.index_put_((row, asked), if_it_is - if_not, accumulate=True)
    constant = torch.zeros(shape[0], dtype=miss.dtype, device=miss.device).index_add(0, row, if_not)
    return evidence, constant
