"""Regularization of learned class priors: shrink them toward the candidate shares, and clip them to what the labels allow."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from scarce.labels import ComplementaryLabels
from scarce.labels._candidate_shares import candidate_shares

PRIOR_STRENGTH = 5.0
"""The weight of the candidate shares in learned priors, as a number of true labels."""

_EPS = 1e-9  # tolerance of the limits; without it, limits that sum to exactly one could not be met


def clip_priors(priors: Tensor, limits: Tensor) -> Tensor:
    """Return π_k = min(t r_k, limit_k), with t such that Σ_k π_k = 1: the proportions r, capped at the limits.

    Priors within the limits are returned unchanged.

    Parameters
    ----------
    priors : Tensor of shape (q,)
        r; sums to one.
    limits : Tensor of shape (q,)
        The limits. If they sum to less than one, as they can with wrong exclusions, they are scaled up to sum to one.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> clip_priors(torch.tensor([0.6, 0.2, 0.2]), torch.tensor([0.4, 1.0, 1.0])).tolist()
    [0.4..., 0.3..., 0.3...]
    """
    if bool((priors <= limits + _EPS).all()):
        return priors
    limits = limits / limits.sum().clamp(max=1)
    proportions, capped = priors.clamp(min=_EPS), torch.zeros_like(priors, dtype=torch.bool)
    while True:
        scale = (1 - limits[capped].sum()) / proportions[~capped].sum()
        exceeds = ~capped & (scale * proportions > limits + _EPS)
        if not bool(exceeds.any()) or bool((capped | exceeds).all()):
            found = torch.where(capped, limits, torch.minimum(scale * proportions, limits))
            return found / found.sum()
        capped |= exceeds  # capping only raises the scale of the others, so no class is uncapped again


@dataclass(frozen=True)
class PriorRegularizer:
    """Shrink and clip learned priors by what the labels alone say about them.

    Attributes
    ----------
    candidate_shares : Tensor of shape (q,)
        The mean over the examples of 1[k ∈ S] / |S|, S being the classes that an example may still have.
    not_excluded_rates : Tensor of shape (q,)
        1 − π̄_k, the fraction of the examples that do not exclude class k.
    weight : float
        s / (n + s), the weight of the shares in learned priors, with s = 5 (m − 1)² if examples have m classes left on average.
    """

    candidate_shares: Tensor
    not_excluded_rates: Tensor
    weight: float

    @classmethod
    def from_labels(cls, labels: ComplementaryLabels) -> Self:
        """Make a regularizer from labels.

        One random exclusion among q classes carries as much information about the priors as 1 / (q − 1)² true labels: estimates
        from n such exclusions have a variance (q − 1)² times larger. So the shares count as s exclusions, worth five true labels.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_lists([[0], [0, 1]], classes=3)
        >>> PriorRegularizer.from_labels(labels).candidate_shares.tolist()
        [0.0, 0.25, 0.75]
        """
        shares = torch.from_numpy(candidate_shares(labels))
        n_left = np.where(labels.confirmed >= 0, 1, labels.n_classes - labels.per_example)
        strength = PRIOR_STRENGTH * (float(n_left.mean()) - 1) ** 2
        return cls(
            shares / shares.sum().clamp(min=_EPS),
            1 - torch.tensor(labels.rates),
            strength / (labels.n_examples + strength),
        )

    def shrink(self, mean_posterior: Tensor) -> Tensor:
        """Return (n π + s a) / (n + s), π being the mean posterior and a the shares: the mode under a Dirichlet prior of 1 + s a.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_single([0, 1, 2] * 5, classes=3)
        >>> PriorRegularizer.from_labels(labels).shrink(torch.tensor([0.8, 0.1, 0.1])).tolist()  # n = 15, s = 5
        [0.68..., 0.15..., 0.15...]
        """
        return (1 - self.weight) * mean_posterior + self.weight * self.candidate_shares.to(mean_posterior)

    def clip(self, priors: Tensor, error_rate: Tensor) -> Tensor:
        """Return priors with π_k ≤ (1 − π̄_k) / (1 − ρ_k), as a fraction 1 − ρ_k of class k does not exclude k.

        Parameters
        ----------
        priors : Tensor of shape (q,)
            π.
        error_rate : Tensor of shape (q,) or ()
            ρ, the probability that an example excludes its own class.

        Returns
        -------
        Tensor of shape (q,)

        Examples
        --------
        >>> labels = ComplementaryLabels.from_lists([[0], [0], [], []], classes=3)
        >>> none = torch.zeros(3, dtype=torch.float64)
        >>> PriorRegularizer.from_labels(labels).clip(torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64), none).tolist()
        [0.5, 0.25, 0.25]
        """
        limits = (self.not_excluded_rates.to(priors) / (1 - error_rate).clamp(min=_EPS)).clamp(max=1)
        return clip_priors(priors, limits)
