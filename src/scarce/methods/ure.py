"""The unbiased risk for uniform single labels: uncorrected (free), non-negative (NN) or with gradient ascent (GA)."""

from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce._validation import check_number, check_option
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.registry import register
from scarce.methods.single_label import SingleLabelMethod

_PAPER = "Ishida et al., ICML 2019"
_URL = "https://arxiv.org/abs/1810.04327"
_ASSUMES = "uniform label"


def ordinary_class_risks(losses: Tensor, excluded: Tensor, label_frequencies: Tensor) -> Tensor:
    """V_j = Σ_g π̄_g m_gj − (q − 1) π̄_j m_jj, the risk of every *ordinary* class j.

    m_gj is the mean of the loss ℓ_j over the rows that exclude g (0 if there are none). Under uniform labels
    E V_j = π_j E[ℓ_j | y = j], which is never negative. Other implementations group by the excluded class instead.
    The total is the same, but their entries can be negative in expectation, so a correction clips the wrong quantities.

    Parameters
    ----------
    losses : Tensor of shape (n, q)
        ℓ_j, the loss of every row if its class were j.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded, in the dtype of the losses.
    label_frequencies : Tensor of shape (q,)
        π̄_k, the fraction of the labels of the whole data that are k; sums to one.

    Returns
    -------
    Tensor of shape (q,)

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
    """Σ_j V_j if every W_j ≥ −β, else −γ Σ_j min(W_j + β, 0), from V of shape (q,).

    W_j is n_j V_j if ``counted``, where n_j of `counts` is the number of rows that exclude j, and V_j if ``plain``.

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
    """Base of the three methods: the class risks with cross-entropy."""

    renamed_state = MappingProxyType({"shares": "label_frequencies"})

    label_frequencies: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("label_frequencies", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Compute the frequencies of the labels in the whole data."""
        super().prepare(problem)
        self.label_frequencies = problem.rates / problem.rates.sum()

    def class_risks(self, logits: Tensor, batch: Batch) -> Tensor:
        """V_j of every ordinary class, of shape (q,)."""
        return ordinary_class_risks(-log_softmax(logits, dim=1), batch.excluded, self.label_frequencies)


@register
class UncorrectedRisk(_UnbiasedRisk):
    """Σ_j V_j, V_j being the unbiased estimate of the risk of class j (`ordinary_class_risks`).

    The unbiased risk with cross-entropy and no correction [1]_. It can become negative, and flexible models then overfit.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    NonNegativeRisk, GradientAscentRisk : The same risk with a correction.
    ScarceURE : An unbiased risk under SCAR, for any number of labels.
    scarce.functional.free_risk : The risk as a function.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("free")
    UncorrectedRisk(pairs=False)
    """

    facts = MethodFacts("free", "unbiased risk, uncorrected", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_j V_j."""
        return self.class_risks(logits, batch).sum()


@register
class NonNegativeRisk(_UnbiasedRisk):
    """Σ_j max(V_j, −β), V_j being the unbiased estimate of the risk of class j (`ordinary_class_risks`).

    The unbiased risk with the risk of every class bounded below [1]_; a class below the bound gets no gradient.

    Parameters
    ----------
    beta : float
        β, how far below zero the risk of a class may fall.
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    UncorrectedRisk : The same risk without correction.
    GradientAscentRisk : Ascends where this method stops.
    scarce.functional.nn_risk : The risk as a function.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("nn", beta=0.1)
    NonNegativeRisk(pairs=False, beta=0.1)
    """

    facts = MethodFacts("nn", "non-negative risk", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

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
    """Σ_j V_j if every W_j ≥ −β, else −γ Σ_j min(W_j + β, 0).

    The unbiased risk, with gradient ascent on classes whose W_j falls below −β [1]_. V_j is the unbiased estimate of the risk of
    class j (`ordinary_class_risks`), and W_j is V_j or a multiple of it.

    Parameters
    ----------
    ascent : {"counted", "plain"}
        ``"counted"``: W_j = n_j V_j as in the authors' code, where n_j rows of the batch exclude j. ``"plain"``: W_j = V_j as in
        their paper. The ascent step is about n/q times larger with ``"counted"``, where n is the batch size.
    beta, gamma : float
        β and γ, the threshold and the weight of the ascent.
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    UncorrectedRisk : The same risk without correction.
    NonNegativeRisk : Clips where this method ascends.
    scarce.functional.ga_risk : The risk as a function.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("ga", ascent="plain").params["ascent"]
    'plain'
    """

    facts = MethodFacts("ga", "gradient ascent", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

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
        """Σ_j V_j, or −γ Σ_j min(W_j + β, 0) if a class is violated."""
        return ascent_risk(
            self.class_risks(logits, batch),
            batch.excluded.sum(dim=0),
            ascent=self.ascent,
            beta=self.beta,
            gamma=self.gamma,
        )
