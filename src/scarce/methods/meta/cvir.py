"""SCARCE-Meta with CVIR, and with TEDn, which also estimates the mixture proportions."""

import math
from typing import Any

import torch
from torch import Tensor

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod, held_out_or_all
from scarce.methods.meta.base import MixtureMethod, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk._mixture_proportion import Unlabeled, best_bin, priors_from_mixture
from scarce.risk.binary_losses import balanced_logistic_losses

_MIN_PRIOR = 1e-3


def cvir_kept(
    g: Tensor, excluded: Tensor, mixture_proportion: Tensor, *, unlabeled: Unlabeled = "all"
) -> Tensor:
    """Return which rows are kept as negatives of each class: the unlabeled rows U_k without the ⌊θ_k |U_k|⌋ highest scores.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a row excludes a class.
    mixture_proportion : Tensor of shape (q,)
        θ, the fraction of "not k" among the unlabeled rows.
    unlabeled : {"all", "rest"}
        See `unlabeled_rows`.

    Returns
    -------
    Tensor of bool, shape (n, q)

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


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaCVIR(RecordingMethod, MixtureMethod):
    """Σ_k (½ mean_P ℓ(g_k) + ½ mean_kept ℓ(−g_k)), ℓ being the logistic loss.

    One CVIR learner [1]_ per class [2]_: the rows P that exclude k, against the unlabeled rows without the fraction θ_k with the
    highest scores, which are probably "not k". During the warm-up, all rows are kept; then the rows are ranked again after
    every epoch. As both sides have equal weight, g_k estimates log(p(x | y ≠ k) / p(x | y = k)), and the prediction is
    argmax_k −g_k + log(π_k / (1 − π_k)).

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.
    warm_up : int
        Epochs before the first ranking.
    **params
        The parameters of a subclass.

    Attributes
    ----------
    kept : Tensor of bool, shape (n, q)
        Which training rows are negatives of each class.

    See Also
    --------
    MetaTEDn : Also estimates θ; needs no priors.
    scarce.functional.cvir_loss : The loss as a function.

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan and Z. C. Lipton, "Mixture Proportion Estimation and PU Learning: A
       Modern Approach", NeurIPS 2021. https://arxiv.org/abs/2111.00980
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-cvir")
    MetaCVIR(unlabeled='all', warm_up=1)
    """

    facts = MethodFacts(
        "meta-cvir",
        "CVIR per class",
        "Garg et al., NeurIPS 2021",
        "SCAR",
        needs_priors=True,
        url="https://arxiv.org/abs/2111.00980",
    )

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
        """Start with all unlabeled rows."""
        super().prepare(problem)
        self.excluded = torch.from_numpy(problem.labels.indicator())
        self.kept = unlabeled_rows(self.excluded.int(), self.unlabeled) > 0
        self.rates = problem.rates.to(self.mixture_proportion)
        self.log_odds = self._log_odds()

    def _log_odds(self) -> Tensor:
        """log(π_k / (1 − π_k)) from the mixture proportions, or 0 where they are unknown."""
        is_known = self.mixture_proportion > 0
        priors = priors_from_mixture(self.mixture_proportion, self.rates, self.unlabeled)
        return torch.logit(priors.where(is_known, priors.new_tensor(0.5)), eps=_MIN_PRIOR)

    def scores(self, logits: Tensor) -> Tensor:
        """f_k + log(π_k / (1 − π_k))."""
        return logits + self.log_odds.to(logits)

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The loss of positives against kept rows, of every class."""
        return balanced_logistic_losses(g, batch.excluded, self.kept[self.rows(batch)].to(g))

    def after_epoch(self, epoch: int) -> None:
        """Rank the unlabeled rows that are not held out."""
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
    """Σ_k (½ mean_P ℓ(g_k) + ½ mean_kept ℓ(−g_k)), ℓ being the logistic loss; θ_k is estimated.

    CVIR with mixture proportions θ_k from Best Bin Estimation [1]_ (`scarce.risk.best_bin`), one learner per
    class [2]_. After the warm-up, θ_k is estimated after every epoch on held-out rows, or on all rows if no held-out row
    excludes k.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.
    warm_up : int
        Epochs before the first estimate.
    hold_out : float
        The fraction of the rows that are left out of the loss and used to estimate θ.

    Attributes
    ----------
    mixture_proportion : Tensor of shape (q,)
        The latest estimate of θ; 0 before the first.

    See Also
    --------
    MetaCVIR : The same method with θ computed from the priors.
    scarce.functional.cvir_loss : The loss as a function.

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan and Z. C. Lipton, "Mixture Proportion Estimation and PU Learning: A
       Modern Approach", NeurIPS 2021. https://arxiv.org/abs/2111.00980
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-tedn").params["hold_out"]
    0.1
    """

    facts = MethodFacts(
        "meta-tedn",
        "TEDn per class",
        "Garg et al., NeurIPS 2021",
        "SCAR",
        url="https://arxiv.org/abs/2111.00980",
    )

    def __init__(self, unlabeled: Unlabeled = "all", warm_up: int = 3, hold_out: float = 0.1) -> None:
        super().__init__(unlabeled, warm_up, hold_out=hold_out)
        check_number("hold_out", hold_out, high=0.9)
        self.hold_out = hold_out

    def after_epoch(self, epoch: int) -> None:
        """Estimate the mixture proportions, then rank the rows."""
        if epoch + 1 >= self.warm_up:
            measured = held_out_or_all(self.excluded, self.validation_mask)
            positives = self.excluded & measured
            others = (unlabeled_rows(self.excluded.int(), self.unlabeled) > 0) & measured
            for k, scores in enumerate(self.scores_seen.double().cpu().unbind(dim=1)):
                proportion = _estimate_mixture_proportion(scores, positives[:, k].cpu(), others[:, k].cpu())
                if proportion < 1:  # at 1 no row would be kept as a negative, so the earlier estimate stays
                    self.mixture_proportion[k] = proportion
        super().after_epoch(epoch)


def _estimate_mixture_proportion(scores: Tensor, positives: Tensor, others: Tensor) -> float:
    """Return the estimate for one class, or 1 if its scores do not allow one."""
    if not positives.any() or not others.any() or not scores.isfinite().all():
        return 1.0
    return best_bin(scores[positives].numpy(), scores[others].numpy()).mixture_proportion
