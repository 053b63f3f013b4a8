"""SCARCE-Meta with Dist-PU: the mean predictions of positives and unlabelled rows are matched to what is known."""

import math

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import MixupMethod
from scarce.methods.meta.base import MixtureMethod, class_means, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk.mixture_proportion import Unlabeled

__all__ = ["MetaDistPU", "binary_entropy", "dist_pu_losses", "entropy_weight", "mixed_losses"]

_MAX_SCORE = 10.0
_FINAL_ENTROPY_WEIGHT = 0.004
_MIXUP_WEIGHT = 5.0
_MIXUP_ENTROPY_WEIGHT = 0.04


def binary_entropy(g: Tensor) -> Tensor:
    """Return H(σ(g)) in nats; |g| is clamped at 10, beyond which there is nothing left to sharpen.

    Examples
    --------
    >>> round(binary_entropy(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    z = g.clamp(-_MAX_SCORE, _MAX_SCORE)
    return softplus(z) - z * torch.sigmoid(z)


def dist_pu_losses(
    g: Tensor,
    excluded: Tensor,
    mixture_proportion: Tensor,
    *,
    mu: float = 0.002,
    weight: float | None = None,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """Return |m_P − 1| + w |m_U − θ| + μ mean_U H(σ(g)) of every class, m_P and m_U the means of σ(g).

    A class that no row excludes does not have the first term.

    Parameters
    ----------
    g, excluded, mixture_proportion, unlabeled
        As in `pu_risks`.
    mu : float
        μ.
    weight : float, optional
        w; by default 1 / 2θ, as published for proportions below a half. Where w is below 1, raising all scores alike lowers
        the loss, and σ(g) = 1 everywhere attracts.

    Examples
    --------
    >>> g, excluded = torch.tensor([[9.0], [-9.0]]), torch.tensor([[1.0], [0.0]])
    >>> dist_pu_losses(g, excluded, torch.tensor([0.5])).item() < 0.001
    True
    """
    probabilities, rows = torch.sigmoid(g), unlabeled_rows(excluded, unlabeled)
    present = excluded.sum(dim=0) > 0
    weights = 1 / (2 * mixture_proportion.clamp(min=1e-6)) if weight is None else weight
    positives = (class_means(probabilities, excluded) - 1).abs() * present
    others = (class_means(probabilities, rows) - mixture_proportion).abs() * weights
    return positives + others + mu * class_means(binary_entropy(g), rows)


def mixed_losses(mixed: Tensor, target: Tensor) -> Tensor:
    """Return mean BCE(σ(g̃), λ a + (1 − λ) b) of every class, from scores g̃ of the mixtures λ x_a + (1 − λ) x_b.

    The cross-entropy is linear in its target, so that this is λ BCE(σ(g̃), a) + (1 − λ) BCE(σ(g̃), b).

    Examples
    --------
    >>> mixed_losses(torch.zeros(1, 1), torch.tensor([[0.3]])).tolist()
    [0.69314...]
    """
    return binary_cross_entropy_with_logits(mixed, target, reduction="none").mean(dim=0)


def entropy_weight(epoch: int, period: int) -> float:
    """Return 0.004 (1 − cos(π t / 2T)), which rises from 0 to 0.004 and stays there.

    Examples
    --------
    >>> entropy_weight(0, 20), round(entropy_weight(30, 20), 6)
    (0.0, 0.004)
    """
    return _FINAL_ENTROPY_WEIGHT * (1 - math.cos(math.pi / 2 * min(epoch / period, 1.0)))


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaDistPU(MixupMethod, MixtureMethod):
    """Σ_k |m_P − 1| + w |m_U − θ_k| + μ mean_U H(σ(g_k)), then with pseudo-labels of mixed rows.

    After `warm_up` epochs the loss becomes, with c_t rising over `period` epochs,

        |m_P − 1| + w |m_U − θ| + c_t mean_U H(σ(g)) + 5 BCE_mix + 0.04 mean H(σ(g̃)),

    g̃ the score of λ x_i + (1 − λ) x_j, λ ~ Beta(6, 6), and BCE_mix its cross-entropy against the latest σ(g) of i and
    j (1 where the class is excluded) in the proportion λ to 1 − λ.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `MixtureMethod`.
    weight : float or None
        w; None is 1 / 2θ_k, as published. With many classes θ is near 1, and above a half that calls every row "not k".
    mu : float
        Weight of the entropy in the warm-up.
    warm_up, period : int
        Epochs of the warm-up, and over which c_t then rises.
    """

    facts = MethodFacts(
        "meta-dist-pu", "Dist-PU per class", "Zhao et al., CVPR 2022", "SCAR", needs_priors=True
    )
    needs_every_class = True
    mixup_alpha = 6.0

    epoch: Tensor

    def __init__(
        self, unlabeled: Unlabeled = "all", weight: float | None = 2.0, mu: float = 0.002, warm_up: int = 10,
        period: int = 20,
    ) -> None:  # fmt: skip
        super().__init__(unlabeled, weight=weight, mu=mu, warm_up=warm_up, period=period)
        if weight is not None:
            check_number("weight", weight)
        check_number("mu", mu)
        check_integer("warm_up", warm_up, low=1)  # before it there are no pseudo-labels
        check_integer("period", period, low=1)
        self.weight, self.mu, self.warm_up, self.period = weight, mu, warm_up, period
        self.register_buffer("epoch", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Start with the warm-up."""
        super().prepare(problem)
        self.epoch.zero_()

    def uses_mixup(self) -> bool:
        """Return whether the warm-up is over."""
        return bool(self.epoch >= self.warm_up)

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The distances between distributions, and the entropies and pseudo-labels that sharpen them."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        epochs_after_warm_up = int(self.epoch) - self.warm_up
        mu = self.mu if epochs_after_warm_up < 0 else entropy_weight(epochs_after_warm_up, self.period)
        losses = dist_pu_losses(
            g, excluded, self.mixture_proportion, mu=mu, weight=self.weight, unlabeled=self.unlabeled
        )
        if len(mixed) == 0 or self._mixup is None:
            return losses
        target = torch.maximum(torch.sigmoid(self.scores_seen[self.rows(batch)]), excluded)
        mixup_losses = mixed_losses(mixed, self._mixup.of(target))
        return (
            losses + _MIXUP_WEIGHT * mixup_losses + _MIXUP_ENTROPY_WEIGHT * binary_entropy(mixed).mean(dim=0)
        )

    def after_epoch(self, epoch: int) -> None:
        """Count the epochs."""
        self.epoch.fill_(epoch + 1)
