"""SCARCE-Meta with TEDn: CVIR that estimates the share of positives on the way."""

from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import MethodFacts
from scarce.methods.meta._recording import held_out_or_all
from scarce.methods.meta.cvir import MetaCVIR
from scarce.methods.registry import register
from scarce.pu import Unlabeled, best_bin, unlabeled_rows

__all__ = ["MetaTEDn"]


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaTEDn(MetaCVIR):
    """CVIR with θ_k from `scarce.pu.best_bin` on held-out rows, after every epoch from the end of the warm-up on.

    A class that no held-out row excludes is measured on all rows.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `ShareMethod`.
    warm_up : int
        Epochs before the first estimate.
    hold_out : float
        The share of the rows that only measure θ.
    """

    facts = MethodFacts("meta-tedn", "TEDn per class", "Garg et al., NeurIPS 2021", "SCAR")

    def __init__(self, unlabeled: Unlabeled = "all", warm_up: int = 3, hold_out: float = 0.1) -> None:
        super().__init__(unlabeled, warm_up, hold_out=hold_out)
        check_number("hold_out", hold_out, high=0.9)
        self.hold_out = hold_out

    def after_epoch(self, epoch: int) -> None:
        """Estimate the shares, then rank."""
        if epoch + 1 >= self.warm_up:
            measured = held_out_or_all(self.excluded, self.held_out)
            positives = self.excluded & measured
            others = (unlabeled_rows(self.excluded.int(), self.unlabeled) > 0) & measured
            for k, scores in enumerate(self.seen.double().cpu().unbind(dim=1)):
                share = _share(scores, positives[:, k].cpu(), others[:, k].cpu())
                if share < 1:  # of 1 nothing would be left to learn from: the earlier one is better
                    self.share[k] = share
        super().after_epoch(epoch)


def _share(scores: Tensor, positives: Tensor, others: Tensor) -> float:
    """The estimate from some scores, or 1 where there is nothing to estimate from."""
    if not positives.any() or not others.any() or not scores.isfinite().all():
        return 1.0
    return best_bin(scores[positives].numpy(), scores[others].numpy()).share
