"""Mixture proportions: the fraction of positives among unlabeled rows, from class priors or estimated from scores."""

from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import PriorError

Unlabeled = Literal["all", "rest"]
Numbers = TypeVar("Numbers", float, Tensor)


def check_unlabeled(unlabeled: str) -> None:
    """Check that `unlabeled` is ``all`` or ``rest``.

    Examples
    --------
    >>> check_unlabeled("some")
    Traceback (most recent call last):
    scarce.errors.MethodError: unlabeled='some' is unknown; expected 'all' or 'rest'.
    """
    check_option("unlabeled", unlabeled, get_args(Unlabeled))


class BestBinResult(NamedTuple):
    """The estimate of `best_bin`.

    Examples
    --------
    >>> best_bin([0.9] * 4, [0.9, 0.1] * 2).mixture_proportion
    0.5
    """

    mixture_proportion: float
    """θ̂ = q̂_U(ẑ) / q̂_P(ẑ), clipped to at most 1."""
    bound: float
    """The upper confidence bound at ẑ, where it is lowest."""
    threshold: float
    """ẑ, the score above which positives and unlabeled rows are compared."""


def best_bin(positive: Any, unlabeled: Any, *, delta: float = 0.1, gamma: float = 0.01) -> BestBinResult:
    """θ̂ = q̂_U(ẑ) / q̂_P(ẑ), the fraction of positives among unlabeled rows, by Best Bin Estimation [1]_.

    With q̂_P(z) and q̂_U(z) the fractions of the n_P positive and n_U unlabeled scores of at least z,

        ẑ = argmin_z  q̂_U(z)/q̂_P(z) + (1 + γ)/q̂_P(z) · (√(ln(4/δ)/2n_P) + √(ln(4/δ)/2n_U)).

    If the highest scores belong only to positives, q̂_U(z)/q̂_P(z) estimates θ for high z. The second term keeps the bin of scores
    above ẑ from being too small. Only the order of the scores matters.

    Parameters
    ----------
    positive : array of shape (n_P,)
        Scores of held-out positives, higher for more likely positives. The model must not be trained on these rows.
    unlabeled : array of shape (n_U,)
        Scores of held-out unlabeled rows.
    delta, gamma : float
        δ and γ, the failure probability and the slack of the bound.

    Returns
    -------
    BestBinResult
        θ̂, its bound and ẑ.

    Raises
    ------
    PriorError
        If there are no positive or no unlabeled scores.

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan and Z. C. Lipton, "Mixture Proportion Estimation and PU Learning:
       A Modern Approach", NeurIPS 2021. https://arxiv.org/abs/2111.00980

    Examples
    --------
    >>> best_bin([0.9, 0.8, 0.7, 0.6] * 100, [0.95, 0.75, 0.2, 0.1] * 100).mixture_proportion
    0.5
    """
    positive, unlabeled = (np.sort(np.asarray(scores, float)) for scores in (positive, unlabeled))
    n_p, n_u = len(positive), len(unlabeled)
    if n_p == 0 or n_u == 0:
        raise PriorError(
            f"best_bin got {n_p} positive and {n_u} unlabeled scores; expected at least one of each: pass held-out scores of both."
        )
    # The fractions only change at scores, and below the lowest positive one only q_U grows.
    thresholds = np.unique(np.concatenate([positive, unlabeled[unlabeled >= positive[0]]]))
    thresholds = thresholds[thresholds <= positive[-1]]
    q_p = (n_p - np.searchsorted(positive, thresholds)) / n_p
    q_u = (n_u - np.searchsorted(unlabeled, thresholds)) / n_u
    width = np.sqrt(np.log(4 / delta) / (2 * n_p)) + np.sqrt(np.log(4 / delta) / (2 * n_u))
    bounds = (q_u + (1 + gamma) * width) / q_p
    best = int(np.argmin(bounds))
    proportion = min(float(q_u[best] / q_p[best]), 1.0)
    return BestBinResult(proportion, float(bounds[best]), float(thresholds[best]))


def mixture_proportion(priors: Tensor, rates: Tensor, unlabeled: Unlabeled = "all") -> Tensor:
    """θ_k = 1 − π_k among all rows, or θ_k = 1 − π_k / (1 − π̄_k) among the rows that do not exclude k.

    θ_k is the fraction of the unlabeled rows of class k that do not belong to k.

    Parameters
    ----------
    priors : Tensor of shape (q,)
        π.
    rates : Tensor of shape (q,)
        π̄, the fraction of all rows that exclude each class.
    unlabeled : {"all", "rest"}
        The unlabeled rows of class k: ``all`` rows, or the ``rest``, those that do not exclude k.

    Returns
    -------
    Tensor of shape (q,)
        θ, from 0 to 1.

    See Also
    --------
    priors_from_mixture : π from θ.

    Examples
    --------
    >>> import torch
    >>> priors, rates = torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.25])
    >>> mixture_proportion(priors, rates).tolist(), mixture_proportion(priors, rates, "rest").tolist()
    ([0.75, 0.25], [0.5, 0.0])
    """
    check_unlabeled(unlabeled)
    if unlabeled == "all":
        return 1 - priors
    rest = (1 - rates).clamp(min=1e-12)
    return (1 - priors / rest).clamp(
        min=0
    )  # in a sample, k may be excluded more often than 1 − π_k by chance


def priors_from_mixture(mixture_proportion: Numbers, rates: Numbers, unlabeled: Unlabeled = "all") -> Numbers:
    """π_k = 1 − θ_k if all rows are unlabeled, or (1 − θ_k)(1 − π̄_k) if only those that do not exclude k are.

    Parameters
    ----------
    mixture_proportion : float or Tensor of shape (q,)
        θ.
    rates : float or Tensor of shape (q,)
        π̄, the fraction of all rows that exclude each class.
    unlabeled : {"all", "rest"}
        The rows of which θ is a fraction; see `mixture_proportion`.

    Returns
    -------
    float or Tensor of shape (q,)
        π.

    Examples
    --------
    >>> import torch
    >>> priors_from_mixture(torch.tensor([0.75]), torch.tensor([0.5]), "rest").tolist()
    [0.125]
    """
    check_unlabeled(unlabeled)
    return 1 - mixture_proportion if unlabeled == "all" else (1 - mixture_proportion) * (1 - rates)
