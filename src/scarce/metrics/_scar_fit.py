"""A test of SCAR that compares exclusion rates given the predicted class, and does not need priors.

Under SCAR, a fraction c_k (1 − P(y = k | predicted j)) of the examples predicted j excludes class k. So for any classifier,

    P("not k" | predicted j) ≤ c_k    and    Σ_k P("not k" | predicted j) / c_k = q − 1,

with c_k = r_k / (1 − π_k). The statistic is the sum of squared standardized violations, minimized over π if it is unknown.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import norm
from torch import Tensor

from scarce._arrays import FloatArray
from scarce.metrics._confusion import Tallies
from scarce.metrics._laplace import mean_penalty, minimize_lbfgs

_FALSE_ALARM_RATE = 5e-3  # upper bound of the probability of rejecting SCAR if it holds
_MIN_EXAMPLES = 20  # predicted classes with fewer examples are not tested
_NEGLIGIBLE_VIOLATION = (
    0.1  # relative; hardly changes the accuracy, but would be significant with many examples
)
_EPS = 1e-6


@dataclass(frozen=True)
class ScarFit:
    """How well SCAR explains exclusions given the predicted class.

    Attributes
    ----------
    statistic, critical_value : float
        The sum of squared violations, and an upper bound of its 99.5 % quantile under SCAR.
    predicted, excluded : int
        The classes j and k of the largest violation.
    rate, max_rate : float
        The fraction of the examples predicted j that exclude k, and its upper limit c_k. If the sums over k are violated most,
        j has the largest such violation and `max_rate` is 1.
    """

    statistic: float
    critical_value: float
    predicted: int
    excluded: int
    rate: float
    max_rate: float

    @property
    def rejects_scar(self) -> bool:
        """Whether no priors, or not the given ones, explain the exclusions."""
        return self.statistic > self.critical_value


def fit_scar(
    tallies: Tallies,
    priors: FloatArray | None,
    error_rate: float,
    is_single: bool,
    rows: NDArray[np.bool_] | None = None,
) -> ScarFit:
    """Fit priors under SCAR to exclusion rates given the predicted class, and measure the violations that remain.

    Parameters
    ----------
    tallies : Tallies
        Counts of exclusions.
    priors : array of shape (q,) or None
        π, if known.
    error_rate : float
        ρ, the probability that an example excludes its own class.
    is_single : bool
        Whether every example has exactly one label by design; the sums over k are then not tested.
    rows : array of bool, shape (n,), optional
        The examples to test, chosen without looking at their labels, such as those with confident predictions.

    Returns
    -------
    ScarFit
        The statistic, its critical value and the largest violation.

    Examples
    --------
    >>> from scarce.metrics._confusion import tally_labels
    >>> from scarce.simulate import biased_a, uniform
    >>> y = np.arange(3000) % 10
    >>> [fit_scar(tally_labels(y, labels), None, 0.0, True).rejects_scar for labels in (uniform(y), biased_a(y))]
    [False, True]
    """
    q = len(tallies.predicted)
    predicted, contradicted = tallies.for_rows(rows)
    is_tested = predicted >= _MIN_EXAMPLES
    excluded = np.flatnonzero(tallies.denied > 0)
    if not is_tested.any() or len(excluded) < 2:
        return ScarFit(0.0, 1.0, 0, 0, 0.0, 1.0)
    n = torch.from_numpy(predicted[is_tested])[:, None]
    observed = torch.from_numpy(contradicted[np.ix_(is_tested, excluded)]) / n
    rates = torch.from_numpy(tallies.rates[excluded])

    def violations(pi: Tensor) -> tuple[Tensor, Tensor]:
        c = (rates - error_rate * pi[excluded]).clamp(min=_EPS) / (1 - pi[excluded]).clamp(min=_EPS)
        c = c.clamp(max=1)
        variance = (
            torch.maximum(observed * (1 - observed), c * (1 - c)) / n + (_NEGLIGIBLE_VIOLATION * c) ** 2
        )
        violations_above = ((observed - c).clamp(min=0) / variance.clamp(min=_EPS**2).sqrt()) ** 2
        if is_single or len(excluded) < q:
            return violations_above, torch.zeros(len(observed), dtype=torch.float64)
        deviation = (observed / c).sum(dim=1) - (q - 1) - error_rate * q
        sum_variance = (observed * (1 - observed) / c**2).sum(dim=1) / n[:, 0] + (
            _NEGLIGIBLE_VIOLATION * (q - 1)
        ) ** 2
        return violations_above, deviation**2 / sum_variance

    def total(theta: Tensor) -> Tensor:
        violations_above, sum_violations = violations(theta.softmax(dim=0))
        return violations_above.sum() + sum_violations.sum() + 1e-3 * mean_penalty(theta)

    equal = torch.zeros(q, dtype=torch.float64)
    pi = minimize_lbfgs(total, equal).softmax(dim=0) if priors is None else torch.from_numpy(priors)
    violations_above, sum_violations = violations(pi)
    cells, sums = violations_above.numel(), 0 if is_single else len(observed)
    # A violation is positive with probability 1/2 at most, so a cell adds at most 1/2 to the mean and 5/4 to the variance.
    critical_value = cells / 2 + sums + norm.isf(_FALSE_ALARM_RATE) * np.sqrt(5 * cells / 4 + 2 * sums)
    j, k = np.unravel_index(int(violations_above.argmax()), violations_above.shape)
    c = float(rates[k] / (1 - pi[excluded][k]).clamp(min=_EPS))
    return ScarFit(
        float(violations_above.sum() + sum_violations.sum()),
        float(critical_value),
        int(
            np.flatnonzero(is_tested)[
                j if violations_above.sum() >= sum_violations.sum() else int(sum_violations.argmax())
            ]
        ),
        int(excluded[k]),
        float(observed[j, k]),
        c if violations_above.sum() >= sum_violations.sum() else 1.0,
    )
