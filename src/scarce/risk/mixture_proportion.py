"""Mixture proportions: the fraction of positives among unlabelled rows, from class priors or estimated from scores."""

from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import PriorError

__all__ = [
    "Unlabeled",
    "check_unlabeled",
    "BestBinResult",
    "best_bin",
    "mixture_proportion",
    "priors_from_mixture",
]

Unlabeled = Literal["all", "rest"]
Numbers = TypeVar("Numbers", float, Tensor)


def check_unlabeled(unlabeled: str) -> None:
    """Check that it is ``all`` or ``rest``.

    Examples
    --------
    >>> check_unlabeled("some")
    Traceback (most recent call last):
    scarce.errors.MethodError: unlabeled='some' is unknown; expected 'all' or 'rest'.
    """
    check_option("unlabeled", unlabeled, get_args(Unlabeled))


class BestBinResult(NamedTuple):
    """The estimate of `best_bin`."""

    mixture_proportion: float
    """θ̂ = q̂_U(ẑ) / q̂_P(ẑ), at most 1."""
    bound: float
    """The upper confidence bound that ẑ minimises."""
    threshold: float
    """ẑ."""


def best_bin(positive: Any, unlabeled: Any, *, delta: float = 0.1, gamma: float = 0.01) -> BestBinResult:
    """Estimate the mixture proportion θ, the fraction of positives among unlabelled rows (Garg et al., 2021).

    With q̂_P(z) and q̂_U(z) the fractions of scores of at least z, and n_P, n_U how many there are,

        ẑ = argmin_z  q̂_U(z)/q̂_P(z) + (1 + γ)/q̂_P(z) · (√(ln(4/δ)/2n_P) + √(ln(4/δ)/2n_U)),    θ̂ = q̂_U(ẑ)/q̂_P(ẑ).

    Where the top of the scores holds positives only, the ratio is θ; the second term keeps the top from being too
    thin. Only the order of the scores matters.

    Parameters
    ----------
    positive, unlabeled : arrays
        Scores, high for "positive", of rows that the scorer was not trained on.
    delta, gamma : float
        Confidence and slack of the bound.

    Examples
    --------
    >>> best_bin([0.9, 0.8, 0.7, 0.6] * 100, [0.95, 0.75, 0.2, 0.1] * 100).mixture_proportion
    0.5
    """
    positive, unlabeled = (np.sort(np.asarray(scores, float)) for scores in (positive, unlabeled))
    n_p, n_u = len(positive), len(unlabeled)
    if n_p == 0 or n_u == 0:
        raise PriorError(f"best_bin got {n_p} positive and {n_u} unlabelled scores; expected some of each.")
    # Between two scores the fractions do not change, and below the lowest positive one only q_U grows.
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
    """Return θ_k, the fraction of the unlabelled rows of class k that are *not k*.

    Of all rows it is θ_k = p(y ≠ k) = 1 − π_k. Of the rest, the rows that do not exclude k, it is

        θ_k = p(y ≠ k | ȳ_k = 0) = 1 − π_k / (1 − π̄_k).

    Parameters
    ----------
    priors, rates : Tensor of shape (q,)
        π_k, and π̄_k: the fraction of all rows that exclude k.
    unlabeled : {"all", "rest"}
        Which rows are meant.

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
    return (1 - priors / rest).clamp(min=0)  # by chance a sample may exclude k more often than 1 − π_k


def priors_from_mixture(mixture_proportion: Numbers, rates: Numbers, unlabeled: Unlabeled = "all") -> Numbers:
    """Return π_k from θ_k: 1 − θ_k if the unlabelled are all rows, (1 − θ_k)(1 − π̄_k) if they are the rest.

    Examples
    --------
    >>> import torch
    >>> priors_from_mixture(torch.tensor([0.75]), torch.tensor([0.5]), "rest").tolist()
    [0.125]
    """
    check_unlabeled(unlabeled)
    return 1 - mixture_proportion if unlabeled == "all" else (1 - mixture_proportion) * (1 - rates)
