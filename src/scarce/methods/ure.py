"""The unbiased risk for uniform single labels: uncorrected (free), made non-negative (NN), or with gradient ascent (GA)."""

from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce._validation import check_number, check_option
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.registry import register
from scarce.methods.single_label import SingleLabelMethod

__all__ = [
    "GradientAscentRisk",
    "NonNegativeRisk",
    "UncorrectedRisk",
    "ascent_risk",
    "non_negative_risk",
    "ordinary_class_risks",
]

_PAPER = "Ishida et al., ICML 2019"
_ASSUMES = "uniform label"


def ordinary_class_risks(losses: Tensor, excluded: Tensor, label_frequencies: Tensor) -> Tensor:
    """V_j = Σ_g π̄_g m_gj − (q − 1) π̄_j m_jj, the risk of every *ordinary* class j.

    m_gj is the mean of the loss ℓ_j over the rows that exclude g (0 if there are none), π̄ the frequencies of the labels.
    Under uniform labels E V_j = π_j E[ℓ_j | y = j], which is never negative. Grouping by the excluded class instead
    gives the same total but entries that may well be negative: that form circulates, and clips the wrong quantities.

    Examples
    --------
    >>> losses, excluded = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.eye(2)
    >>> ordinary_class_risks(losses, excluded, torch.tensor([0.5, 0.5])).tolist()
    [1.5, 1.0]
    """
    counts = excluded.sum(dim=0).clamp(min=1)
    weighted = label_frequencies[:, None] * (excluded.T @ losses) / counts[:, None]
    return weighted.sum(dim=0) - (losses.shape[1] - 1) * weighted.diagonal()


def non_negative_risk(class_risks: Tensor, beta: float = 0.0) -> Tensor:
    """Σ_j max(V_j, −β), from V of shape (q,).

    Examples
    --------
    >>> non_negative_risk(torch.tensor([1.5, -0.5])).item()
    1.5
    """
    return (torch.relu(class_risks + beta) - beta).sum()


def ascent_risk(
    class_risks: Tensor,
    counts: Tensor,
    *,
    ascent: Literal["counted", "plain"] = "counted",
    beta: float = 0.0,
    gamma: float = 1.0,
) -> Tensor:
    """Σ_j V_j while no W_j is below −β, else −γ Σ_j min(W_j + β, 0), from V of shape (q,).

    W_j is n_j V_j if ``counted``, with the counts n of shape (q,) of how many rows exclude j, and V_j if ``plain``.

    Examples
    --------
    >>> ascent_risk(torch.tensor([1.5, -0.5]), torch.tensor([1.0, 3.0])).item()
    1.5
    """
    check_option("ascent", ascent, ("counted", "plain"))
    scaled_risks = class_risks * counts if ascent == "counted" else class_risks
    shortfall = torch.relu(-scaled_risks - beta)
    return torch.where((shortfall > 0).any(), gamma * shortfall.sum(), class_risks.sum())


class _UnbiasedRisk(SingleLabelMethod):
    """The base of the three methods: cross-entropy, and the frequencies of the labels in the whole data."""

    renamed_state = MappingProxyType({"shares": "label_frequencies"})

    label_frequencies: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("label_frequencies", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Take the frequencies of the labels."""
        super().prepare(problem)
        self.label_frequencies = problem.rates / problem.rates.sum()

    def class_risks(self, logits: Tensor, batch: Batch) -> Tensor:
        """V_j of every ordinary class."""
        return ordinary_class_risks(-log_softmax(logits, dim=1), batch.excluded, self.label_frequencies)


@register
class UncorrectedRisk(_UnbiasedRisk):
    """Σ_j V_j, without correction: unbiased, and overfits."""

    facts = MethodFacts("free", "unbiased risk, uncorrected", _PAPER, _ASSUMES, accepts=("single",))

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_j V_j."""
        return self.class_risks(logits, batch).sum()


@register
class NonNegativeRisk(_UnbiasedRisk):
    """Σ_j max(V_j, −β).

    Parameters
    ----------
    beta : float
        How far below zero a class may go.
    pairs : bool
        Take several labels per example, each as an example of its own.
    """

    facts = MethodFacts("nn", "non-negative risk", _PAPER, _ASSUMES, accepts=("single",))

    def __init__(self, beta: float = 0.0, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.params |= {"beta": beta}
        check_number("beta", beta)
        self.beta = beta

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_j max(V_j, −β)."""
        return non_negative_risk(self.class_risks(logits, batch), self.beta)


@register
class GradientAscentRisk(_UnbiasedRisk):
    """Σ_j V_j while no W_j is below −β, else −γ Σ_j min(W_j + β, 0): ascent out of the violation.

    Parameters
    ----------
    ascent : {"counted", "plain"}
        ``counted`` has W_j = n_j V_j with n_j the rows of the batch that exclude j, as the authors' program; ``plain``
        has W_j = V_j, as their paper. Descent and ascent then differ in scale by about B/q.
    beta, gamma : float
        Threshold and weight of the ascent.
    pairs : bool
        Take several labels per example, each as an example of its own.
    """

    facts = MethodFacts("ga", "gradient ascent", _PAPER, _ASSUMES, accepts=("single",))

    def __init__(
        self,
        ascent: Literal["counted", "plain"] = "counted",
        beta: float = 0.0,
        gamma: float = 1.0,
        pairs: bool = False,
    ) -> None:
        super().__init__(pairs)
        self.params |= {"ascent": ascent, "beta": beta, "gamma": gamma}
        check_option("ascent", ascent, ("counted", "plain"))
        check_number("beta", beta)
        check_number("gamma", gamma)
        self.ascent, self.beta, self.gamma = ascent, beta, gamma

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Descend on the total, or ascend on the violated classes."""
        return ascent_risk(
            self.class_risks(logits, batch),
            batch.excluded.sum(dim=0),
            ascent=self.ascent,
            beta=self.beta,
            gamma=self.gamma,
        )
