"""Mixup: convex combinations of pairs of rows, which the model sees in addition to the rows themselves."""

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from scarce.methods.base import Batch
from scarce.methods.meta._recording import RecordingMethod


class Mixup(NamedTuple):
    """One mixture λ x_i + (1 − λ) x_j for every row i and its partner j."""

    partner: Tensor
    """j of shape (n,), a permutation."""
    weight: float
    """λ."""

    def of(self, values: Tensor) -> Tensor:
        """λ v_i + (1 − λ) v_j of every row, for values v of shape (n, …).

        Examples
        --------
        >>> Mixup(torch.tensor([1, 0]), 0.75).of(torch.tensor([4.0, 8.0])).tolist()
        [5.0, 7.0]
        """
        return self.weight * values + (1 - self.weight) * values[self.partner]


def draw_mixup(n_rows: int, alpha: float, device: torch.device) -> Mixup:
    """Draw a partner for every row, and one λ ~ Beta(α, α) for all rows.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    alpha : float
        α.
    device : torch.device
        The device of the partners.

    Returns
    -------
    Mixup

    Examples
    --------
    >>> mixup = draw_mixup(3, 0.3, torch.device("cpu"))
    >>> sorted(mixup.partner.tolist()), 0 <= mixup.weight <= 1
    ([0, 1, 2], True)
    """
    weight = torch.distributions.Beta(alpha, alpha).sample()
    return Mixup(torch.randperm(n_rows).to(device), float(weight))


class MixupMethod(RecordingMethod):
    """Base of methods that may train on mixtures of rows in addition to the rows themselves."""

    uses_inputs = True
    mixup_alpha: ClassVar[float]
    """α of λ ~ Beta(α, α)."""
    _mixup: Mixup | None = None

    @abstractmethod
    def uses_mixup(self) -> bool:
        """Return whether the next step trains on mixtures."""

    def model_inputs(self, batch: Batch) -> Tensor:
        """Return the rows, followed by their mixtures if the step uses mixup."""
        if not self.uses_mixup():
            return batch.inputs
        self._mixup = draw_mixup(len(batch.inputs), self.mixup_alpha, batch.inputs.device)
        return torch.cat([batch.inputs, self._mixup.of(batch.inputs)])
