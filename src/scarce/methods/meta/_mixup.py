"""Mixtures of two rows each, shown to the model beside the rows themselves."""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Mixup", "draw_mixup"]


class Mixup(NamedTuple):
    """Every row i is mixed with its partner j as λ x_i + (1 − λ) x_j."""

    partner: Tensor
    """j of shape (B,), a permutation."""
    weight: float
    """λ."""

    def of(self, values: Tensor) -> Tensor:
        """λ v_i + (1 − λ) v_j of every row.

        Examples
        --------
        >>> Mixup(torch.tensor([1, 0]), 0.75).of(torch.tensor([4.0, 8.0])).tolist()
        [5.0, 7.0]
        """
        return self.weight * values + (1 - self.weight) * values[self.partner]


def draw_mixup(n_rows: int, concentration: float, device: torch.device) -> Mixup:
    """Draw a partner for every row, and one λ ~ Beta(a, a) for all.

    Examples
    --------
    >>> mixture = draw_mixup(3, 0.3, torch.device("cpu"))
    >>> sorted(mixture.partner.tolist()), 0 <= mixture.weight <= 1
    ([0, 1, 2], True)
    """
    weight = torch.distributions.Beta(concentration, concentration).sample()
    return Mixup(torch.randperm(n_rows).to(device), float(weight))
