"""SCARCE-Meta with VPU, which needs no priors."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_flag, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import Mixture, draw_mixture
from scarce.methods.meta._recording import RecordingMethod
from scarce.methods.meta.base import probabilities_of_not_k
from scarce.methods.registry import register
from scarce.pu import (
    Unlabeled,
    check_unlabeled,
    log_not_k,
    unlabeled_rows,
    vpu_losses,
    vpu_mixup_losses,
)

__all__ = ["MetaVPU"]

_CONCENTRATION = 0.3
_WEIGHT = 0.03


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaVPU(RecordingMethod):
    """Σ_k log mean_U Φ_k − mean_P log Φ_k, Φ = σ(g); the lowest Φ_k / max Φ_k over the training rows is predicted.

    Φ_k is found only up to a factor, which the division takes out: without it the classes could not be compared.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabelled; see `scarce.pu.unlabeled_rows`.
    mixup : bool
        Whether to add 0.03 mean (log Φ̃ − log Φ(x̃))² over rows mixed with a positive; see `scarce.pu.vpu_mixup_losses`.
        One mixture of the batch serves all classes: a pair counts for the classes that its second row excludes.
    """

    facts = MethodFacts("meta-vpu", "VPU per class", "Chen et al., NeurIPS 2020", "SCAR")
    predicts_with = ("peak",)
    needs_every_class = True
    looks_at_inputs = True

    peak: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", mixup: bool = False) -> None:
        super().__init__(unlabeled=unlabeled, mixup=mixup)
        check_unlabeled(unlabeled)
        check_flag("mixup", mixup)
        self.unlabeled: Unlabeled = unlabeled
        self.mixup = mixup
        self._mixture: Mixture | None = None
        self.register_buffer("peak", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start with a highest Φ of 1."""
        super().prepare(problem)
        self.peak = torch.zeros(problem.n_classes)

    def shown(self, batch: Batch) -> Tensor:
        """The rows, and their mixtures."""
        if not self.mixup:
            return batch.inputs
        self._mixture = draw_mixture(len(batch.inputs), _CONCENTRATION, batch.inputs.device)
        return torch.cat([batch.inputs, self._mixture.of(batch.inputs)])

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The variational loss of every class."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        losses = vpu_losses(g, excluded, unlabeled=self.unlabeled)
        if len(mixed) == 0 or self._mixture is None:
            return losses
        pairs = unlabeled_rows(excluded, self.unlabeled) * excluded[self._mixture.partner]
        return losses + _WEIGHT * vpu_mixup_losses(g, mixed, pairs, self._mixture.weight)

    def after_epoch(self, epoch: int) -> None:
        """Find the highest Φ of every class."""
        self.peak = logsigmoid(self.seen).amax(dim=0)

    def scores(self, logits: Tensor) -> Tensor:
        """−(log Φ_k − max log Φ_k)."""
        return -log_not_k(-logits, self.peak)

    def probabilities(self, logits: Tensor) -> Tensor:
        """1 − Φ_k / max Φ_k, made to sum to one."""
        return probabilities_of_not_k(self.scores(logits))
