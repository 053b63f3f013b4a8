"""From one raw estimate per class to class priors: numbers that sum to one and leave room for the exclusions."""

from typing import Any

import numpy as np

from scarce._arrays import FloatArray
from scarce._validation import check_number, check_numbers
from scarce.errors import PriorError

__all__ = ["to_simplex"]

_EPS = 1e-9  # of a limit; were it none, limits that sum to just one could never be met


def to_simplex(raw: Any, rates: Any, floor: float = 1e-3) -> FloatArray:
    """Return priors in the proportions of the raw estimates, none above what the exclusions of its class allow.

    An example that excludes class k is of another class, so π_k ≤ 1 − π̄_k. With r the raw estimates, clipped,

        π_k = min(t r_k, 1 − π̄_k),    t such that Σ_k π_k = 1:

    what is cut off at one class goes to the classes below their limits, in proportion.

    Parameters
    ----------
    raw : array of shape (q,)
        Raw estimates of π; clipped to [floor, 1].
    rates : array of shape (q,)
        π̄, the fraction of examples that exclude each class.
    floor : float
        The smallest raw estimate: a class that was estimated away can still be learned.

    Examples
    --------
    >>> to_simplex([0.6, 0.3, 0.3], [0.2, 0.2, 0.2]).tolist()
    [0.5, 0.25, 0.25]
    >>> to_simplex([0.6, 0.3, 0.3], [0.6, 0.2, 0.2]).tolist()
    [0.4, 0.3, 0.3]
    """
    proportions, caps = check_numbers(raw, "the raw priors"), 1 - check_numbers(rates, "the rates")
    if proportions.shape != caps.shape:
        raise PriorError(
            f"there are {len(proportions)} raw priors and {len(caps)} rates; expected one of each per class."
        )
    if (caps < 0).any() or (caps > 1).any():
        raise PriorError(
            f"the rates go from {1 - caps.max():g} to {1 - caps.min():g}; expected fractions from 0 to 1."
        )
    check_number("floor", floor, high=1, open_low=True)
    if caps.sum() < 1 - _EPS / 2:
        raise PriorError(
            f"the rates sum to {np.sum(1 - caps):.4g} over {len(caps)} classes, so some example excludes every class; "
            f"expected a sum of at most {len(caps) - 1}: look for wrong exclusions."
        )
    proportions = np.clip(proportions, floor, 1.0)
    capped = np.zeros(len(proportions), bool)
    while True:
        scale = (1 - caps[capped].sum()) / proportions[~capped].sum()
        above = ~capped & (scale * proportions > caps + _EPS)
        if not above.any():
            priors: FloatArray = np.where(capped, caps, scale * proportions)
            return priors
        capped |= above  # what they lose only raises the scale of the others, so none comes back
