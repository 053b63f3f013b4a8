"""Losses and posteriors from the log-likelihood of the labels of a row, given its class.

The labels can be exclusions, answers or a true class. Let e_y be the logarithm of their probability given the class y, up to a
constant per row. With p = softmax(f), the loss of the row is

    −log Σ_y p_y exp(e_y) = logsumexp_y f_y − logsumexp_y (f_y + e_y),

and the posterior of its class is softmax(f + e). Unlike an unbiased risk, this loss needs no correction.
"""

import torch
from torch import Tensor

EPS = 1e-12
"""The smallest probability. Impossible events get this probability instead of zero, which keeps every loss finite."""


def safe_log(probability: Tensor) -> Tensor:
    """log max(p, 10⁻¹²), which is finite for p = 0.

    Parameters
    ----------
    probability : Tensor
        p, of any shape.

    Returns
    -------
    Tensor
        The logarithms, of the shape of p; at least −27.7.

    Examples
    --------
    >>> safe_log(torch.tensor([0.0, 1.0])).tolist()
    [-27.6310..., 0.0]
    """
    return probability.clamp(min=EPS).log()


def marginal_nll(logits: Tensor, log_likelihood: Tensor) -> Tensor:
    """−log Σ_y p_y exp(e_y) of every row, with p = softmax(f).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    log_likelihood : Tensor of shape (n, q)
        e, the log-likelihood of the labels of each row given each class.

    Returns
    -------
    Tensor of shape (n,)
        The loss of every row.

    See Also
    --------
    posterior : Class probabilities given the labels.
    clamp_confirmed : e where the class is known.

    Examples
    --------
    >>> log_likelihood = safe_log(torch.tensor([[0.0, 0.5, 0.5]]))
    >>> round(marginal_nll(torch.zeros(1, 3), log_likelihood).item(), 4)  # −log 1/3
    1.0986
    """
    return logits.logsumexp(dim=1) - (logits + log_likelihood).logsumexp(dim=1)


def posterior(logits: Tensor, log_likelihood: Tensor) -> Tensor:
    """p_y exp(e_y) / Σ_j p_j exp(e_j): the class probabilities given the labels.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f; p = softmax(f).
    log_likelihood : Tensor of shape (n, q)
        e, the log-likelihood of the labels of each row given each class.

    Returns
    -------
    Tensor of shape (n, q)
        Rows sum to one.

    See Also
    --------
    marginal_nll : The loss.

    Examples
    --------
    >>> posterior(torch.zeros(1, 3), safe_log(torch.tensor([[0.0, 0.1, 0.3]]))).round(decimals=4).tolist()
    [[0.0, 0.25, 0.75]]
    """
    return torch.softmax(logits + log_likelihood, dim=1)


def clamp_confirmed(log_likelihood: Tensor, confirmed: Tensor | None) -> Tensor:
    """Return e with 0 at the confirmed class of a row and log 10⁻¹² at all other classes, so that the loss is −log p_y.

    Parameters
    ----------
    log_likelihood : Tensor of shape (n, q)
        e.
    confirmed : Tensor of int, shape (n,), or None
        The confirmed class of each row, −1 where it is unknown.

    Returns
    -------
    Tensor of shape (n, q)
        The new e; rows without a confirmed class are unchanged.

    Examples
    --------
    >>> clamp_confirmed(torch.zeros(2, 2), torch.tensor([-1, 1])).tolist()
    [[0.0, 0.0], [-27.6..., 0.0]]
    """
    if confirmed is None:
        return log_likelihood
    certain = torch.full_like(log_likelihood, EPS).log().scatter(1, confirmed.clamp(min=0)[:, None], 0.0)
    return torch.where((confirmed >= 0)[:, None], certain, log_likelihood)
