"""Confidence intervals of proportions."""

import numpy as np
from scipy.stats import gamma, norm

from scarce._arrays import FloatArray
from scarce._validation import check_number

__all__ = ["gamma_interval", "wilson_interval"]


def wilson_interval(
    successes: FloatArray, trials: FloatArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's confidence interval of binomial proportions; [0, 1] where there were no trials.

    With z the normal quantile, its bounds are (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).

    Examples
    --------
    >>> low, high = wilson_interval(np.array([0.0, 5.0]), np.array([10.0, 10.0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    """
    check_number("level", level, high=1, open_low=True, open_high=True)
    z = float(norm.ppf((1 + level) / 2))
    n = np.maximum(trials, 1)
    proportion = successes / n
    middle = proportion + z**2 / (2 * n)
    half = z * np.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2))
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    # exactly 0 and 1 where nothing or everything succeeded, which rounding would miss
    return np.where(successes > 0, low, 0.0), np.where(successes < trials, high, 1.0)


def gamma_interval(
    total: float, variance: float, max_weight: float, level: float = 0.95
) -> tuple[float, float]:
    """Return the confidence interval of Fay and Feuer for a weighted sum of counts, Σ_k w_k e_k.

    The lower bound is a quantile of the gamma distribution with the mean and variance of the sum, the upper one of that with one
    more event of the largest weight. Unlike a normal interval it is right for rare events, whose sum is skewed.

    Parameters
    ----------
    total, variance : float
        The sum, and its estimated variance.
    max_weight : float
        The largest w_k.
    level : float
        Of the interval.

    References
    ----------
    Fay and Feuer (1997), "Confidence intervals for directly standardized rates", Statistics in Medicine 16.

    Examples
    --------
    >>> [round(bound, 2) for bound in gamma_interval(5.0, 5.0, 1.0)]  # of five events; Poisson's interval
    [1.62, 11.67]
    """
    check_number("level", level, high=1, open_low=True, open_high=True)
    tail = (1 - level) / 2

    def quantile(probability: float, mean: float, variance: float) -> float:
        if mean <= 0 or variance <= 0:
            return max(mean, 0.0)
        return float(gamma.ppf(probability, mean**2 / variance, scale=variance / mean))

    return quantile(tail, total, variance), quantile(1 - tail, total + max_weight, variance + max_weight**2)
