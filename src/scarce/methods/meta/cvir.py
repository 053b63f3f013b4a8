"""SCARCE-Meta with CVIR, and TEDn, which estimates the mixture proportions too."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod, held_out_or_all
from scarce.methods.meta.base import MixtureMethod, class_means, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk.mixture_proportion import Unlabeled, best_bin, priors_from_mixture

__all__ = ["MetaCVIR", "MetaTEDn", "cvir_kept", "cvir_losses"]

_MIN_PRIOR = 1e-3


def cvir_kept(
    g: Tensor, excluded: Tensor, mixture_proportion: Tensor, *, unlabeled: Unlabeled = "all"
) -> Tensor:
    """Return which rows are kept as negatives: the unlabelled without the ⌊θ |U_k|⌋ of highest score, as bool (n, q).

    Examples
    --------
    >>> g, excluded = torch.tensor([[3.0], [2.0], [1.0], [0.0]]), torch.tensor([[0.0], [1.0], [0.0], [0.0]])
    >>> cvir_kept(g, excluded, torch.tensor([0.5])).flatten().tolist()
    [False, False, True, True]
    >>> cvir_kept(g, excluded, torch.tensor([0.5]), unlabeled="rest").flatten().tolist()
    [False, False, True, True]
    """
    rows = unlabeled_rows(excluded, unlabeled) > 0
    ranked = g.masked_fill(~rows, -math.inf).argsort(dim=0, descending=True, stable=True)
    n_dropped = (mixture_proportion * rows.sum(dim=0)).floor()
    ranks = torch.arange(len(g), device=g.device)[:, None].expand_as(g)
    kept = torch.empty_like(rows).scatter_(0, ranked, ranks >= n_dropped)
    return kept & rows


def cvir_losses(g: Tensor, excluded: Tensor, kept: Tensor) -> Tensor:
    """Return ½ mean_P ℓ(g) + ½ mean_kept ℓ(−g) of every class, ℓ logistic; 0 for one without positives or kept rows.

    Examples
    --------
    >>> g, excluded = torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])
    >>> round(cvir_losses(g, excluded, excluded == 0).item(), 4)
    0.6931
    """
    kept = kept.to(g)
    is_used = (excluded.sum(dim=0) > 0) & (kept.sum(dim=0) > 0)
    return (class_means(-logsigmoid(g), excluded) + class_means(-logsigmoid(-g), kept)) / 2 * is_used


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaCVIR(RecordingMethod, MixtureMethod):
    """Σ_k ½ mean_P ℓ(g_k) + ½ mean_kept ℓ(−g_k), ℓ logistic; kept are the unlabelled without the θ_k of highest g_k.

    They are ranked again after every epoch from the end of the warm-up on; until then all are kept. The loss gives both
    sides equal weight, so g_k = log p(x | y ≠ k) / p(x | k), and f_k + log π_k / (1 − π_k) is what classes are compared by.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `MixtureMethod`.
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
        self.rates = problem.rates.to(self.mixture_proportion)
        self.log_odds = self._log_odds()

    def _log_odds(self) -> Tensor:
        """log π_k / (1 − π_k), from the mixture proportions; 0 as long as none is known."""
        is_known = self.mixture_proportion > 0
        priors = priors_from_mixture(self.mixture_proportion, self.rates, self.unlabeled)
        return torch.logit(priors.where(is_known, priors.new_tensor(0.5)), eps=_MIN_PRIOR)

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
            is_used = ~self.validation_mask
            self.kept[is_used] = cvir_kept(
                self.scores_seen[is_used],
                self.excluded[is_used].to(self.scores_seen),
                self.mixture_proportion,
                unlabeled=self.unlabeled,
            )


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaTEDn(MetaCVIR):
    """CVIR with θ_k from `scarce.risk.mixture_proportion.best_bin` on held-out rows, after every epoch from the warm-up on.

    A class that no held-out row excludes is measured on all rows.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `MixtureMethod`.
    warm_up : int
        Epochs before the first estimate.
    hold_out : float
        The fraction of the rows that only measure θ.
    """

    facts = MethodFacts("meta-tedn", "TEDn per class", "Garg et al., NeurIPS 2021", "SCAR")

    def __init__(self, unlabeled: Unlabeled = "all", warm_up: int = 3, hold_out: float = 0.1) -> None:
        super().__init__(unlabeled, warm_up, hold_out=hold_out)
        check_number("hold_out", hold_out, high=0.9)
        self.hold_out = hold_out

    def after_epoch(self, epoch: int) -> None:
        """Estimate the mixture proportions, then rank."""
        if epoch + 1 >= self.warm_up:
            measured = held_out_or_all(self.excluded, self.validation_mask)
            positives = self.excluded & measured
            others = (unlabeled_rows(self.excluded.int(), self.unlabeled) > 0) & measured
            for k, scores in enumerate(self.scores_seen.double().cpu().unbind(dim=1)):
                proportion = _estimate_mixture_proportion(scores, positives[:, k].cpu(), others[:, k].cpu())
                if proportion < 1:  # at 1 no row would be left to learn from: keep the earlier estimate
                    self.mixture_proportion[k] = proportion
        super().after_epoch(epoch)


def _estimate_mixture_proportion(scores: Tensor, positives: Tensor, others: Tensor) -> float:
    """Return the estimate from some scores, or 1 where there is nothing to estimate from."""
    if not positives.any() or not others.any() or not scores.isfinite().all():
        return 1.0
    return best_bin(scores[positives].numpy(), scores[others].numpy()).mixture_proportion
