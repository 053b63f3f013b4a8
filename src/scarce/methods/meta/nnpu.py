"""SCARCE-Meta with nnPU: the PU risk with non-negative correction."""

from typing import Any

from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts
from scarce.methods.meta.base import MixtureMethod
from scarce.methods.meta.upu import pu_risks
from scarce.methods.registry import register
from scarce.risk import ClassRisks, binary_loss, make_correction
from scarce.risk.mixture_proportion import Unlabeled

__all__ = ["MetaNNPU", "nnpu_losses"]


def nnpu_losses(
    g: Tensor,
    excluded: Tensor,
    mixture_proportion: Tensor,
    *,
    loss: str = "sigmoid",
    beta: float = 0.0,
    gamma: float = 1.0,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """Return r⁺ + r⁻ of every class while r⁻ ≥ −β, and else −γ r⁻: a class that has fallen too low only climbs back.

    r⁺, r⁻ and the other parameters are those of `pu_risks`. In place of −γ r⁻ the authors report r⁺ − β,
    which is not what they minimise.

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[2.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> nnpu_losses(g, excluded, torch.tensor([0.75]), loss="ramp", gamma=2.0).tolist()  # r⁻ = 0.5 − 0.75
    [0.5]
    """
    risks = pu_risks(g, excluded, mixture_proportion, loss=loss, unlabeled=unlabeled)
    ascend = make_correction("nnpu", beta=beta, gamma=gamma)
    return ascend(
        ClassRisks(positive=risks.negative, negative=risks.positive)
    )  # there, "positive" means "is k"


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaNNPU(MixtureMethod):
    """r⁺ + r⁻ of every class while r⁻ ≥ −β, and else ascent on r⁻ until it is; see `nnpu_losses`.

    Parameters
    ----------
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    beta, gamma : float
        How far below zero r⁻ may fall, and the rate of the ascent.
    unlabeled : {"all", "rest"}
        See `MixtureMethod`.
    **params
        The parameters of a subclass.
    """

    facts = MethodFacts(
        "meta-nnpu", "nnPU per class", "Kiryo et al., NeurIPS 2017", "SCAR", needs_priors=True
    )

    def __init__(
        self, loss: str = "logistic", beta: float = 0.0, gamma: float = 1.0, unlabeled: Unlabeled = "all",
        **params: Any,
    ) -> None:  # fmt: skip
        super().__init__(unlabeled, loss=loss, beta=beta, gamma=gamma, **params)
        binary_loss(loss)  # checked now rather than at the first step
        check_number("beta", beta)
        check_number("gamma", gamma)
        self.loss_name, self.beta, self.gamma = loss, beta, gamma

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The non-negative risk of every class."""
        return nnpu_losses(
            g,
            batch.excluded,
            self.mixture_proportion,
            loss=self.loss_name,
            beta=self.beta,
            gamma=self.gamma,
            unlabeled=self.unlabeled,
        )
