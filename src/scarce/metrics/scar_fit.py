"""Does SCAR fit? A test of exclusion rates given the predicted class, for which no priors need to be known.

Under SCAR, of the examples predicted j the share c_k (1 − P(y = k | predicted j)) excludes class k. So whatever the classifier,

    P("not k" | predicted j) ≤ c_k    and    Σ_k P("not k" | predicted j) / c_k = q − 1,

with c_k = r_k / (1 − π_k). The statistic is the sum of squared standardized violations, at the priors π that make it smallest.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import norm
from torch import Tensor

from scarce._arrays import FloatArray
from scarce.metrics._laplace import hold, minimum
from scarce.metrics.confusion import Tallies

__all__ = ["ScarFit", "fit_scar"]

_FALSE_ALARMS = 5e-3  # probability of rejecting SCAR though it holds, at most
_ENOUGH = 20  # examples of a predicted class that is tested
_NEGLIGIBLE = 0.1  # relative violations that hardly change an accuracy; with many examples even these would be significant
_LEAST = 1e-6


@dataclass(frozen=True)
class ScarFit:
    """How well SCAR explains exclusions given the predicted class.

    Attributes
    ----------
    statistic, limit_of_statistic : float
        The sum of squared violations, and what it exceeds under SCAR in one of two hundred samples at most.
    predicted, excluded : int
        The classes j and k of the worst violation.
    share, limit : float
        How many of the examples predicted j exclude k, and how many do at most, c_k.
    """

    statistic: float
    limit_of_statistic: float
    predicted: int
    excluded: int
    share: float
    limit: float

    @property
    def rejects_scar(self) -> bool:
        """Whether no priors explain the exclusions."""
        return self.statistic > self.limit_of_statistic


def fit_scar(
    tallies: Tallies,
    priors: FloatArray | None,
    error_rate: float,
    is_single: bool,
    rows: NDArray[np.bool_] | None = None,
) -> ScarFit:
    """Find the priors under which SCAR fits best, and how well it does.

    Parameters
    ----------
    tallies : Tallies
        Of exclusions.
    priors : array of shape (q,) or None
        π, if it is known.
    error_rate : float
        ρ, the probability that an example excludes its own class.
    is_single : bool
        Whether examples have one label by design: then the number of labels tells nothing.
    rows : array of shape (n,), optional
        The examples to test; what must hold for all examples of a predicted class must hold for the surest of them too.

    Examples
    --------
    >>> from scarce.metrics.confusion import count
    >>> from scarce.simulate import biased_a, uniform
    >>> y = np.arange(3000) % 10
    >>> [fit_scar(count(y, labels), None, 0.0, True).rejects_scar for labels in (uniform(y), biased_a(y))]
    [False, True]
    """
    q = len(tallies.predicted)
    predicted, contradicted = tallies.of_rows(rows)
    kept = predicted >= _ENOUGH
    excluded = np.flatnonzero(tallies.denied > 0)
    if not kept.any() or len(excluded) < 2:
        return ScarFit(0.0, 1.0, 0, 0, 0.0, 1.0)
    n = torch.from_numpy(predicted[kept])[:, None]
    share = torch.from_numpy(contradicted[np.ix_(kept, excluded)]) / n
    rates = torch.from_numpy(tallies.rates[excluded])

    def violations(pi: Tensor) -> tuple[Tensor, Tensor]:
        c = (rates - error_rate * pi[excluded]).clamp(min=_LEAST) / (1 - pi[excluded]).clamp(min=_LEAST)
        c = c.clamp(max=1)
        spread = torch.maximum(share * (1 - share), c * (1 - c)) / n + (_NEGLIGIBLE * c) ** 2
        above = ((share - c).clamp(min=0) / spread.clamp(min=_LEAST**2).sqrt()) ** 2
        if is_single or len(excluded) < q:
            return above, torch.zeros(len(share), dtype=torch.float64)
        off = (share / c).sum(dim=1) - (q - 1) - error_rate * q
        noise = (share * (1 - share) / c**2).sum(dim=1) / n[:, 0] + (_NEGLIGIBLE * (q - 1)) ** 2
        return above, off**2 / noise

    def total(theta: Tensor) -> Tensor:
        above, off = violations(theta.softmax(dim=0))
        return above.sum() + off.sum() + 1e-3 * hold(theta)

    equal = torch.zeros(q, dtype=torch.float64)
    pi = minimum(total, equal).softmax(dim=0) if priors is None else torch.from_numpy(priors)
    above, off = violations(pi)
    cells, sums = above.numel(), 0 if is_single else len(share)
    # At most half of the violations are positive, so that a cell adds at most 1/2 to the mean and 5/4 to the variance.
    limit = cells / 2 + sums + norm.isf(_FALSE_ALARMS) * np.sqrt(5 * cells / 4 + 2 * sums)
    j, k = np.unravel_index(int(above.argmax()), above.shape)
    c = float(rates[k] / (1 - pi[excluded][k]).clamp(min=_LEAST))
    return ScarFit(
        float(above.sum() + off.sum()),
        float(limit),
        int(np.flatnonzero(kept)[j if above.sum() >= off.sum() else int(off.argmax())]),
        int(excluded[k]),
        float(share[j, k]),
        c if above.sum() >= off.sum() else 1.0,
    )
