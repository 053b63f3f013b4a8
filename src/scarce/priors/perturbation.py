"""Priors made wrong on purpose, to see how much it matters."""

from typing import Any

import numpy as np

from scarce._arrays import FloatArray
from scarce._validation import check_number, check_numbers
from scarce.errors import PriorError
from scarce.simulate._drawing import generator

__all__ = ["corrupt"]

_SMALLEST_FACTOR = 1e-3


def corrupt(priors: Any, sigma: float, seed: int = 0) -> FloatArray:
    """Return priors multiplied by noise and made to sum to one again, as in the paper's sensitivity analysis.

        π_k ← ξ_k π_k / Σ_j ξ_j π_j,    ξ_k ~ N(1, σ²).

    The paper does not say what becomes of a ξ_k below 0; here no factor is below 0.001, so that every class keeps
    a prior above 0.

    Parameters
    ----------
    priors : array of shape (q,)
        π, or numbers in its proportions.
    sigma : float
        Standard deviation of the factors; 0 changes nothing.
    seed : int
        Of the factors: those of the same seed deviate from 1 in proportion to `sigma`.

    Examples
    --------
    >>> corrupt([0.2, 0.8], sigma=0.0).tolist()
    [0.2, 0.8]
    >>> corrupt([0.25, 0.25, 0.5], sigma=0.5, seed=1).round(3).tolist()
    [0.239, 0.287, 0.474]
    """
    values = check_numbers(priors, "the priors")
    if (values < 0).any() or not values.any():
        raise PriorError(
            f"the priors go from {values.min():g} to {values.max():g}; expected numbers of at least 0."
        )
    check_number("sigma", sigma)
    factors = np.maximum(1 + sigma * generator(seed).standard_normal(len(values)), _SMALLEST_FACTOR)
    corrupted: FloatArray = factors * values
    corrupted /= corrupted.sum()
    return corrupted
