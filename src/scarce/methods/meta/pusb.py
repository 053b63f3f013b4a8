"""SCARCE-Meta with PUSB: nnPU, then thresholds that match the class priors."""

import torch
from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod
from scarce.methods.meta.nnpu import MetaNNPU
from scarce.methods.registry import register
from scarce.risk.mixture_proportion import Unlabeled

__all__ = ["MetaPUSB", "pusb_thresholds"]


def pusb_thresholds(g: Tensor, priors: Tensor) -> Tensor:
    """Return the threshold of every class, which a fraction 1 − π_k of the scores reach: sorted(g_k)[⌊n π_k⌋].

    Only the order of the scores has to be right; it is even if the positives were selected with a bias that keeps
    the order.

    Examples
    --------
    >>> import torch
    >>> g = torch.tensor([[4.0], [1.0], [3.0], [2.0]])
    >>> pusb_thresholds(g, torch.tensor([0.25])).tolist()
    [2.0]
    """
    position = (len(g) * priors).long().clamp(0, len(g) - 1)
    return g.sort(dim=0).values.gather(0, position[None]).squeeze(0)


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaPUSB(RecordingMethod, MetaNNPU):
    """nnPU; the predicted class is that of the lowest g_k − t_k, where a fraction 1 − π_k of the rows have g_k ≥ t_k.

    The thresholds come from rows that are held out, after every epoch; from all rows where they are too few to hold
    any out.

    Parameters
    ----------
    loss, beta, gamma, unlabeled
        See `MetaNNPU`.
    hold_out : float
        The fraction of the rows that only set the thresholds.
    """

    facts = MethodFacts("meta-pusb", "PUSB per class", "Kato et al., ICLR 2019", "SCAR", needs_priors=True)
    predicts_with = ("thresholds",)

    priors: Tensor
    thresholds: Tensor

    def __init__(
        self, loss: str = "logistic", beta: float = 0.0, gamma: float = 1.0, unlabeled: Unlabeled = "all",
        hold_out: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__(loss, beta, gamma, unlabeled, hold_out=hold_out)
        check_number("hold_out", hold_out, high=0.9)
        self.hold_out = hold_out
        self.register_buffer("priors", torch.empty(0))
        self.register_buffer("thresholds", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start with thresholds of zero."""
        super().prepare(problem)
        assert problem.priors is not None
        self.priors = problem.priors.clone()
        self.thresholds = torch.zeros_like(self.priors)

    def after_epoch(self, epoch: int) -> None:
        """Move the thresholds."""
        rows = self.validation_mask if self.validation_mask.any() else ~self.validation_mask
        self.thresholds = pusb_thresholds(self.scores_seen[rows], self.priors)

    def scores(self, logits: Tensor) -> Tensor:
        """−(g_k − t_k)."""
        return logits + self.thresholds
