"""SCARCE-Meta with Elkan and Noto: a classifier of "excluded", divided by the label frequency."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from scarce._validation import check_number, check_option
from scarce.errors import MethodError
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod, held_out_or_all
from scarce.methods.meta.base import class_means, class_probabilities
from scarce.methods.registry import register

__all__ = ["MetaElkanNoto", "elkan_noto_losses", "label_frequency"]

_EPS = 1e-12


def elkan_noto_losses(g: Tensor, excluded: Tensor) -> Tensor:
    """Return mean BCE(σ(g), ȳ) of every class: σ(g) learns p(k is excluded | x) = c_k p(y ≠ k | x).

    Examples
    --------
    >>> elkan_noto_losses(torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])).tolist()
    [0.69314...]
    """
    losses = binary_cross_entropy_with_logits(g, excluded, reduction="none")
    return class_means(losses, torch.ones_like(excluded))


def label_frequency(g: Tensor, rows: Tensor) -> Tensor:
    """Return ĉ_k, the mean of σ(g_k) over `rows` of shape (n, q), 1 for held-out rows that exclude k.

    It estimates c_k = p(k is excluded | y ≠ k); where the priors are known, c_k = π̄_k / (1 − π_k) is exact.

    Examples
    --------
    >>> label_frequency(torch.tensor([[0.0], [5.0]]), torch.tensor([[1.0], [0.0]])).tolist()
    [0.5]
    """
    return class_means(torch.sigmoid(g), rows)


@register
class MetaElkanNoto(RecordingMethod):
    """Σ_k mean BCE(σ(g_k), ȳ_k); the predicted class is that of the lowest σ(g_k) / c_k = p(y ≠ k | x).

    Parameters
    ----------
    frequency : {"held-out", "priors"}
        Where c_k = p(k is excluded | y ≠ k) comes from: the mean of σ(g_k) over held-out rows that exclude k (all
        that do, where none is held out), after every epoch; or the priors, as π̄_k / (1 − π_k), with no row held out.
    hold_out : float
        The fraction of the rows that only measure c.
    """

    facts = MethodFacts("meta-elkan-noto", "Elkan-Noto per class", "Elkan and Noto, KDD 2008", "SCAR")
    predicts_with = ("c",)
    needs_every_class = True

    c: Tensor
    excluded: Tensor

    def __init__(self, frequency: str = "held-out", hold_out: float = 0.1) -> None:
        super().__init__(frequency=frequency, hold_out=hold_out)
        check_option("frequency", frequency, ("held-out", "priors"))
        check_number("hold_out", hold_out, high=0.9)
        self.estimates_c = frequency == "held-out"
        self.hold_out = hold_out if self.estimates_c else 0.0
        self.register_buffer("c", torch.empty(0))
        self.register_buffer("excluded", torch.empty(0, dtype=torch.bool))

    def prepare(self, problem: Problem) -> None:
        """Take c from the priors, or start with c = 1."""
        super().prepare(problem)
        self.excluded = torch.from_numpy(problem.labels.indicator())
        self.c = torch.ones(problem.n_classes)
        if not self.estimates_c:
            if problem.priors is None:
                raise MethodError(
                    f"meta-elkan-noto with frequency='priors' needs class priors; pass priors=[...] with "
                    f"{problem.n_classes} numbers, or frequency='held-out'."
                )
            not_k_priors = (1 - problem.priors).clamp(min=_EPS)
            self.c = (problem.rates.to(not_k_priors) / not_k_priors).clamp(min=_EPS)

    def has_loss(self, batch: Batch) -> Tensor:
        """All: that no row of a batch excludes a class is part of how rarely it is excluded."""
        return batch.excluded.new_ones(batch.excluded.shape[1])

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The cross-entropy of every class."""
        return elkan_noto_losses(g, batch.excluded)

    def after_epoch(self, epoch: int) -> None:
        """Estimate c; a class that no row excludes gets the mean over all rows, which calls none of them k."""
        if self.estimates_c:
            positives = self.excluded & held_out_or_all(self.excluded, self.validation_mask)
            rows = positives | ~positives.any(dim=0)
            self.c = label_frequency(self.scores_seen, rows.to(self.scores_seen)).clamp(min=_EPS)

    def scores(self, logits: Tensor) -> Tensor:
        """−log(σ(g_k) / c_k), which unlike the quotient does not saturate."""
        return self.c.log() - logsigmoid(-logits)

    def probabilities(self, logits: Tensor) -> Tensor:
        """1 − σ(g_k) / c_k, made to sum to one."""
        return class_probabilities(self.scores(logits))
