"""SCARCE-Meta with CVIR."""

from typing import Any

import torch
from torch import Tensor

from scarce._validation import check_integer, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod
from scarce.methods.meta.base import ShareMethod
from scarce.methods.registry import register
from scarce.pu import Unlabeled, cvir_kept, cvir_losses, priors_from_share, unlabeled_rows

__all__ = ["MetaCVIR"]

_SMALLEST_PRIOR = 1e-3


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaCVIR(RecordingMethod, ShareMethod):
    """Σ_k ½ mean_P ℓ(g_k) + ½ mean_kept ℓ(−g_k), ℓ logistic; kept are the unlabelled without the θ_k of highest g_k.

    They are ranked anew after every epoch from the end of the warm-up on; until then all are kept. The loss gives both
    sides equal weight, so g_k = log p(x | y ≠ k) / p(x | k), and f_k + log π_k / (1 − π_k) is what classes are compared by.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `ShareMethod`.
    warm_up : int
        Epochs before the first ranking.
    **params
        The parameters of a subclass.
    """

    facts = MethodFacts("meta-cvir", "CVIR per class", "Garg et al., NeurIPS 2021", "SCAR", needs_priors=True)

    predicts_with = ("log_odds",)

    excluded: Tensor
    kept: Tensor
    rates: Tensor
    log_odds: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", warm_up: int = 1, **params: Any) -> None:
        super().__init__(unlabeled, warm_up=warm_up, **params)
        check_integer("warm_up", warm_up, low=1)  # nothing can be ranked before the first epoch
        self.warm_up = warm_up
        for name in ("excluded", "kept"):
            self.register_buffer(name, torch.empty(0, dtype=torch.bool))
        for name in ("rates", "log_odds"):
            self.register_buffer(name, torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Keep all unlabelled rows."""
        super().prepare(problem)
        self.excluded = torch.from_numpy(problem.labels.indicator())
        self.kept = unlabeled_rows(self.excluded.int(), self.unlabeled) > 0
        self.rates = problem.rates.to(self.share)
        self.log_odds = self._log_odds()

    def _log_odds(self) -> Tensor:
        """log π_k / (1 − π_k), from the shares; 0 as long as none is known."""
        known = self.share > 0
        priors = priors_from_share(self.share, self.rates, self.unlabeled)
        return torch.logit(priors.where(known, priors.new_tensor(0.5)), eps=_SMALLEST_PRIOR)

    def scores(self, logits: Tensor) -> Tensor:
        """f_k + log π_k / (1 − π_k)."""
        return logits + self.log_odds.to(logits)

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """Positives against kept rows, of every class."""
        return cvir_losses(g, batch.excluded, self.kept[self.rows(batch)])

    def after_epoch(self, epoch: int) -> None:
        """Rank the unlabelled rows that are trained on."""
        if epoch + 1 >= self.warm_up:
            self.log_odds = self._log_odds()
            used = ~self.held_out
            self.kept[used] = cvir_kept(
                self.seen[used], self.excluded[used].to(self.seen), self.share, unlabeled=self.unlabeled
            )
