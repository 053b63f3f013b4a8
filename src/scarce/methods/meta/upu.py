"""SCARCE-Meta with uPU, which is SCARCE without its correction."""

from torch import Tensor

from scarce._validation import renamed_parameters
from scarce.methods.base import Batch, MethodFacts
from scarce.methods.meta.base import ShareMethod
from scarce.methods.registry import register
from scarce.pu import Unlabeled, upu_losses
from scarce.risk import binary_loss

__all__ = ["MetaUPU"]


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaUPU(ShareMethod):
    """Σ_k θ_k mean_P ℓ(g_k) + mean_U ℓ(−g_k) − θ_k mean_P ℓ(−g_k): unbiased, unbounded below, overfits.

    Parameters
    ----------
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    unlabeled : {"all", "rest"}
        See `ShareMethod`.
    """

    facts = MethodFacts(
        "meta-upu", "uPU per class", "du Plessis et al., ICML 2015", "SCAR", needs_priors=True
    )

    def __init__(self, loss: str = "logistic", unlabeled: Unlabeled = "all") -> None:
        super().__init__(unlabeled, loss=loss)
        binary_loss(loss)
        self.loss_name = loss

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The unbiased risk of every class."""
        return upu_losses(g, batch.excluded, self.share, loss=self.loss_name, unlabeled=self.unlabeled)
