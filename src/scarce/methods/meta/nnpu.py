"""SCARCE-Meta with nnPU."""

from typing import Any

from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts
from scarce.methods.meta.base import ShareMethod
from scarce.methods.registry import register
from scarce.pu import Unlabeled, nnpu_losses
from scarce.risk import binary_loss

__all__ = ["MetaNNPU"]


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaNNPU(ShareMethod):
    """r⁺ + r⁻ of every class while r⁻ ≥ −β, and else ascent on r⁻ until it is; see `scarce.pu.nnpu_losses`.

    Parameters
    ----------
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    beta, gamma : float
        How far below zero r⁻ may fall, and the rate of the ascent.
    unlabeled : {"all", "rest"}
        See `ShareMethod`.
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
        binary_loss(loss)  # refused now rather than at the first step
        check_number("beta", beta)
        check_number("gamma", gamma)
        self.loss_name, self.beta, self.gamma = loss, beta, gamma

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The non-negative risk of every class."""
        return nnpu_losses(
            g,
            batch.excluded,
            self.share,
            loss=self.loss_name,
            beta=self.beta,
            gamma=self.gamma,
            unlabeled=self.unlabeled,
        )
