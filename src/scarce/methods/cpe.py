"""CPE: estimate the distribution p̄ of the excluded class, then decode to the class whose transition row is nearest."""

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts, Problem
from scarce.methods.forward import forward_losses
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = ["CPEFixedTransition", "CPEIdentity", "CPETrainedTransition", "nearest_row_scores"]

_PAPER = "Lin and Lin, PAKDD 2023"
_ASSUMES = "known matrix"


def nearest_row_scores(excluded: Tensor, transition: Tensor) -> Tensor:
    """−‖p̄ − T_y‖₁ of every class y, from p̄ of shape (B, q).

    Examples
    --------
    >>> uniform = (1 - torch.eye(3)) / 2
    >>> nearest_row_scores(torch.tensor([[0.1, 0.5, 0.4]]), uniform).argmax(dim=1).item()
    0
    """
    return -torch.cdist(excluded, transition, p=1)


class _CPE(PairMethod):
    """The base of the three methods: a transition matrix, and decoding by its nearest row."""

    transition: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("transition", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Take the transition matrix."""
        super().prepare(problem)
        assert problem.transition is not None
        self.transition = problem.transition.clone()

    def log_rows(self) -> Tensor:
        """The logarithm of the transition matrix in use."""
        return self.transition.clamp(min=1e-12).log()

    def excluded_probabilities(self, logits: Tensor) -> Tensor:
        """p̄ = p T."""
        return torch.softmax(logits, dim=1) @ self.log_rows().exp().to(logits)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log p̄_k."""
        return forward_losses(logits, k, self.log_rows())

    @torch.no_grad()  # predictions need no gradient, and a trained matrix would give them one
    def scores(self, logits: Tensor) -> Tensor:
        """−‖p̄ − T_y‖₁."""
        return nearest_row_scores(self.excluded_probabilities(logits), self.log_rows().exp().to(logits))


@register
class CPEIdentity(_CPE):
    """Mean −log p_k: the network itself is p̄."""

    facts = MethodFacts(
        "cpe-i", "excluded class, identity", _PAPER, _ASSUMES, needs_transition=True, accepts=("single",)
    )

    def excluded_probabilities(self, logits: Tensor) -> Tensor:
        """p̄ = softmax(f)."""
        return torch.softmax(logits, dim=1)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log p_k."""
        return -log_softmax(logits, dim=1).gather(1, k[:, None]).squeeze(1)


@register
class CPEFixedTransition(_CPE):
    """Mean −log (p T)_k with T fixed, decoded by the nearest row."""

    facts = MethodFacts(
        "cpe-f", "excluded class, fixed matrix", _PAPER, _ASSUMES, needs_transition=True, accepts=("single",)
    )


@register
class CPETrainedTransition(_CPE):
    """Mean −log (p softmax(W))_k with W trained beside the network, from log(T + 10⁻³)."""

    facts = MethodFacts(
        "cpe-t",
        "excluded class, trained matrix",
        _PAPER,
        _ASSUMES,
        needs_transition=True,
        accepts=("single",),
    )

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.weights = nn.Parameter(torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start from the given matrix; zeros are lifted so that they can move."""
        super().prepare(problem)
        self.weights = nn.Parameter((self.transition + 1e-3).log())

    def log_rows(self) -> Tensor:
        """log softmax(W), row by row."""
        return log_softmax(self.weights, dim=1)
