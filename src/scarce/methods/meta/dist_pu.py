"""SCARCE-Meta with Dist-PU."""

import torch
from torch import Tensor

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import Mixture, draw_mixture
from scarce.methods.meta._recording import RecordingMethod
from scarce.methods.meta.base import ShareMethod
from scarce.methods.registry import register
from scarce.pu import Unlabeled, binary_entropy, dist_pu_losses, entropy_weight, mixed_losses

__all__ = ["MetaDistPU"]

_CONCENTRATION = 6.0
_MIXED_WEIGHT = 5.0
_MIXED_ENTROPY = 0.04


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaDistPU(RecordingMethod, ShareMethod):
    """Σ_k |m_P − 1| + w |m_U − θ_k| + μ mean_U H(σ(g_k)), then with pseudo-labels of mixed rows.

    After `warm_up` epochs the loss becomes, with c_t rising over `period` epochs,

        |m_P − 1| + w |m_U − θ| + c_t mean_U H(σ(g)) + 5 BCE_mix + 0.04 mean H(σ(g̃)),

    g̃ the score of λ x_i + (1 − λ) x_j, λ ~ Beta(6, 6), and BCE_mix its cross-entropy against the latest σ(g) of i and
    j (1 where the class is excluded) in the proportion λ to 1 − λ.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        See `ShareMethod`.
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
    looks_at_inputs = True

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
        self._mixture: Mixture | None = None
        self.register_buffer("epoch", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Start with the warm-up."""
        super().prepare(problem)
        self.epoch.zero_()

    def shown(self, batch: Batch) -> Tensor:
        """The rows, and after the warm-up their mixtures."""
        if self.epoch < self.warm_up:
            return batch.inputs
        self._mixture = draw_mixture(len(batch.inputs), _CONCENTRATION, batch.inputs.device)
        return torch.cat([batch.inputs, self._mixture.of(batch.inputs)])

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The distances between distributions, and the entropies and pseudo-labels that sharpen them."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        later = int(self.epoch) - self.warm_up
        mu = self.mu if later < 0 else entropy_weight(later, self.period)
        losses = dist_pu_losses(g, excluded, self.share, mu=mu, weight=self.weight, unlabeled=self.unlabeled)
        if len(mixed) == 0 or self._mixture is None:
            return losses
        target = torch.maximum(torch.sigmoid(self.seen[self.rows(batch)]), excluded)
        mixing = mixed_losses(mixed, self._mixture.of(target))
        return losses + _MIXED_WEIGHT * mixing + _MIXED_ENTROPY * binary_entropy(mixed).mean(dim=0)

    def after_epoch(self, epoch: int) -> None:
        """Count."""
        self.epoch.fill_(epoch + 1)
