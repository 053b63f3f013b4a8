"""Class priors that are learned from few labels: drawn towards the candidate shares, and kept within what labels allow."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from scarce.labels import ComplementaryLabels
from scarce.labels.candidate_shares import candidate_shares

__all__ = ["PRIOR_STRENGTH", "LearnedPriors", "within_limits"]

PRIOR_STRENGTH = 5.0
"""How many true classes the candidate shares count for in learned priors."""

_ROUNDING = 1e-9  # of a limit; were it zero, limits that sum to just one could never be met


def within_limits(priors: Tensor, limits: Tensor) -> Tensor:
    """Return π_k = min(t r_k, limit_k), with t such that Σ_k π_k = 1: priors in the proportions r that no limit forbids.

    Priors that keep the limits are returned as they are.

    Parameters
    ----------
    priors, limits : tensors of shape (q,)
        r, with the sum 1, and the limits. Limits that sum to less than one, as exclusions may have them that are partly wrong,
        are raised in proportion.

    Examples
    --------
    >>> within_limits(torch.tensor([0.6, 0.2, 0.2]), torch.tensor([0.4, 1.0, 1.0])).tolist()
    [0.4..., 0.3..., 0.3...]
    """
    if bool((priors <= limits + _ROUNDING).all()):
        return priors
    limits = limits / limits.sum().clamp(max=1)
    shares, capped = priors.clamp(min=_ROUNDING), torch.zeros_like(priors, dtype=torch.bool)
    while True:
        scale = (1 - limits[capped].sum()) / shares[~capped].sum()
        above = ~capped & (scale * shares > limits + _ROUNDING)
        if not bool(above.any()) or bool((capped | above).all()):
            found = torch.where(capped, limits, torch.minimum(scale * shares, limits))
            return found / found.sum()
        capped |= above  # what they lose only raises the scale of the others, so none comes back


@dataclass(frozen=True)
class LearnedPriors:
    """What the labels say of priors before anything is learned.

    Attributes
    ----------
    shares : tensor of shape (q,)
        The mean over examples of 1[k ∈ S] / |S|, S being the classes that an example may still be.
    free : tensor of shape (q,)
        1 − π̄_k, the share of examples that do not exclude class k.
    weight : float
        s / (n + s), the weight of the shares in learned priors. With m classes left to an example on average, s = 5 (m − 1)².
    """

    shares: Tensor
    free: Tensor
    weight: float

    @classmethod
    def of(cls, labels: ComplementaryLabels) -> Self:
        """Read the labels.

        One of q classes, excluded at random, says about priors what 1 / (q − 1)² of a true class would: the variance of
        estimates from n such labels is so many times larger. So what counts for five true classes counts for s labels.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_lists([[0], [0, 1]], classes=3)
        >>> LearnedPriors.of(labels).shares.tolist()
        [0.0, 0.25, 0.75]
        """
        shares = torch.from_numpy(candidate_shares(labels))
        n_left = np.where(labels.confirmed >= 0, 1, labels.n_classes - labels.per_example)
        strength = PRIOR_STRENGTH * (float(n_left.mean()) - 1) ** 2
        return cls(
            shares / shares.sum().clamp(min=_ROUNDING),
            1 - torch.tensor(labels.rates),
            strength / (labels.n_examples + strength),
        )

    def drawn(self, mean_posterior: Tensor) -> Tensor:
        """Return (n π + s a) / (n + s), π being the mean posterior and a the shares: the mode under a Dirichlet of 1 + s a.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_single([0, 1, 2] * 5, classes=3)
        >>> LearnedPriors.of(labels).drawn(torch.tensor([0.8, 0.1, 0.1])).tolist()  # s = 5, to 15 examples
        [0.68..., 0.15..., 0.15...]
        """
        return (1 - self.weight) * mean_posterior + self.weight * self.shares.to(mean_posterior)

    def allowed(self, priors: Tensor, error_rate: Tensor) -> Tensor:
        """Return priors with π_k ≤ (1 − π̄_k) / (1 − ρ_k): of class k, the share 1 − ρ_k does not exclude it.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_lists([[0], [0], [], []], classes=3)
        >>> none = torch.zeros(3, dtype=torch.float64)
        >>> LearnedPriors.of(labels).allowed(torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64), none).tolist()
        [0.5, 0.25, 0.25]
        """
        limits = (self.free.to(priors) / (1 - error_rate).clamp(min=_ROUNDING)).clamp(max=1)
        return within_limits(priors, limits)
