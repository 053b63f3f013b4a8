"""Confidence intervals of proportions."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce.errors import MethodError

__all__ = ["wilson_interval"]

FloatArray = NDArray[np.float64]


def wilson_interval(
    successes: FloatArray, trials: FloatArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's confidence interval of binomial proportions; all of [0, 1] where nothing was tried.

    With z the normal quantile, its bounds are (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).

    Examples
    --------
    >>> low, high = wilson_interval(np.array([0.0, 5.0]), np.array([10.0, 10.0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    """
    if not 0 < level < 1:
        raise MethodError(f"level={level}; expected a number between 0 and 1, such as 0.95.")
    z = float(norm.ppf((1 + level) / 2))
    n = np.maximum(trials, 1)
    share = successes / n
    middle = share + z**2 / (2 * n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    # exactly 0 and 1 where nothing or everything succeeded, which rounding would miss
    return np.where(successes > 0, low, 0.0), np.where(successes < trials, high, 1.0)
