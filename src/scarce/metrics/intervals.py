"""Confidence intervals of proportions."""

import numpy as np
from scipy.stats import gamma, norm

from scarce._arrays import FloatArray
from scarce._validation import check_number


def wilson_interval(
    successes: FloatArray, trials: FloatArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """(p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n), Wilson's confidence interval of binomial proportions [1]_.

    z is the (1 + level) / 2 quantile of the standard normal distribution. Without trials the interval is [0, 1].

    Parameters
    ----------
    successes, trials : array
        The counts p̂ n and n, of the same shape.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    low, high : array
        Bounds, of the same shape as `trials`.

    See Also
    --------
    complementary_accuracy : The accuracy with its interval.

    References
    ----------
    .. [1] E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal of the American
       Statistical Association 22(158), 1927. https://doi.org/10.1080/01621459.1927.10502953

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
    # Exactly 0 without successes and exactly 1 without failures, where the formula gives them only up to rounding.
    return np.where(successes > 0, low, 0.0), np.where(successes < trials, high, 1.0)


def gamma_interval(
    total: float, variance: float, max_weight: float, level: float = 0.95
) -> tuple[float, float]:
    """Return Fay and Feuer's confidence interval for a weighted sum of counts, Σ_k w_k e_k [1]_.

    The lower bound is a quantile of the gamma distribution with the mean and variance of the sum. The upper bound is a quantile
    with one more event of the largest weight. Unlike a normal interval it is valid for rare events, whose sum has a skewed
    distribution.

    Parameters
    ----------
    total, variance : float
        The sum, and its estimated variance.
    max_weight : float
        The largest w_k.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    low, high : float
        Bounds.

    References
    ----------
    .. [1] M. P. Fay and E. J. Feuer, "Confidence Intervals for Directly Standardized Rates: A Method Based on the Gamma
       Distribution", Statistics in Medicine 16(7), 1997.

    Examples
    --------
    >>> [round(bound, 2) for bound in gamma_interval(5.0, 5.0, 1.0)]  # the Poisson interval of five events
    [1.62, 11.67]
    """
    check_number("level", level, high=1, open_low=True, open_high=True)
    tail = (1 - level) / 2

    def quantile(probability: float, mean: float, variance: float) -> float:
        if mean <= 0 or variance <= 0:
            return max(mean, 0.0)
        return float(gamma.ppf(probability, mean**2 / variance, scale=variance / mean))

    return quantile(tail, total, variance), quantile(1 - tail, total + max_weight, variance + max_weight**2)
