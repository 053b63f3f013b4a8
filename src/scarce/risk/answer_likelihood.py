"""The likelihood of answers to "is it class k?" from annotators who may be wrong."""

import torch
from torch import Tensor

from scarce.risk.likelihood import safe_log


def answer_log_likelihood(
    shape: tuple[int, int],
    row: Tensor,
    asked: Tensor,
    yes: Tensor,
    false_negative_rate: Tensor,
    false_positive_rate: Tensor,
) -> tuple[Tensor, Tensor]:
    """Σ_j log P(answer_j | y) = e_y + a, for the answers j about each row; return e and a.

    For a question about class k, P(no | y = k) is the false-negative rate and P(yes | y ≠ k) the false-positive rate. Only e_k
    and a, which does not depend on y, change with an answer about k.

    Parameters
    ----------
    shape : tuple of int
        (n, q), rows and classes.
    row, asked : Tensor of int, shape (m,)
        For each of the m answers, the row and the class that it is about.
    yes : Tensor of bool, shape (m,)
        Whether the answer was "yes".
    false_negative_rate, false_positive_rate : Tensor of shape (m,)
        The error rates of the annotator who gave the answer.

    Returns
    -------
    log_likelihood : Tensor of shape (n, q)
        e.
    constant : Tensor of shape (n,)
        a.

    See Also
    --------
    marginal_nll : The loss, given e.
    scarce.functional.answers_nll : The loss for your own training loop.

    Examples
    --------
    >>> zero = torch.zeros(1)
    >>> e, a = answer_log_likelihood((1, 3), torch.tensor([0]), torch.tensor([2]), torch.tensor([False]), zero, zero)
    >>> (e + a[:, None]).exp().round(decimals=4).tolist()  # "no" to the last class
    [[1.0, 1.0, 0.0]]
    """
    if_true = safe_log(torch.where(yes, 1 - false_negative_rate, false_negative_rate))
    if_false = safe_log(torch.where(yes, false_positive_rate, 1 - false_positive_rate))
    log_likelihood = false_negative_rate.new_zeros(shape)
    log_likelihood.index_put_((row, asked), if_true - if_false, accumulate=True)
    constant = false_negative_rate.new_zeros(shape[0]).index_add(0, row, if_false)
    return log_likelihood, constant
