"""SCARCE-Meta with PUSB: nnPU with thresholds that match the class priors."""

import torch
from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod
from scarce.methods.meta.nnpu import MetaNNPU
from scarce.methods.registry import register
from scarce.risk._mixture_proportion import Unlabeled


def pusb_thresholds(g: Tensor, priors: Tensor) -> Tensor:
    """t_k = sorted(g_k)[⌊n π_k⌋], the threshold that a fraction 1 − π_k of the scores of each class reach.

    Depends only on the order of the scores, so it tolerates a selection bias of the positives that preserves the order.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    priors : Tensor of shape (q,)
        π.

    Returns
    -------
    Tensor of shape (q,)

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
    """Σ_k L_k with the losses L_k of `MetaNNPU`; the prediction is argmin_k g_k − t_k.

    One PUSB learner [1]_ per class [2]_: nnPU with a threshold t_k, which is set after every epoch so that a fraction 1 − π_k of
    the held-out rows has g_k ≥ t_k. If there are too few rows to hold any out, the thresholds are set on all rows.

    Parameters
    ----------
    loss, beta, gamma, unlabeled
        See `MetaNNPU`.
    hold_out : float
        The fraction of the rows that are left out of the loss and used to set the thresholds.

    Attributes
    ----------
    thresholds : Tensor of shape (q,)
        t.

    See Also
    --------
    MetaNNPU : The same loss without thresholds.
    scarce.functional.nnpu_risk : The loss as a function.

    References
    ----------
    .. [1] M. Kato, T. Teshima and J. Honda, "Learning from Positive and Unlabeled Data with a Selection Bias", ICLR 2019.
       https://openreview.net/forum?id=rJzLciCqKm
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-pusb", hold_out=0.2).params["hold_out"]
    0.2
    """

    facts = MethodFacts(
        "meta-pusb",
        "PUSB per class",
        "Kato et al., ICLR 2019",
        "SCAR",
        needs_priors=True,
        url="https://openreview.net/forum?id=rJzLciCqKm",
    )
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
        """Update the thresholds."""
        rows = self.validation_mask if self.validation_mask.any() else ~self.validation_mask
        self.thresholds = pusb_thresholds(self.scores_seen[rows], self.priors)

    def scores(self, logits: Tensor) -> Tensor:
        """−(g_k − t_k)."""
        return logits + self.thresholds
