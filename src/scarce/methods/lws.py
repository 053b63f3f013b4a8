"""LWS: leveraged weights for candidates and non-candidates."""

from typing import Literal

import torch
from torch import Tensor

from scarce._validation import check_number, check_option
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register

__all__ = ["LWS", "leveraged_weights", "lws_losses"]

_EPS = 1e-8


def lws_losses(logits: Tensor, weights: Tensor, candidates: Tensor, beta: float, psi: str) -> Tensor:
    """Σ_S C ψ(f) + β Σ_{S̄} C ψ̄(f) of every row.

    ψ = σ(−f) and ψ̄ = σ(f), or with ``cross-entropy`` −log(p + 10⁻⁸) and −log(1 − p + 10⁻⁸).

    Examples
    --------
    >>> S = torch.tensor([[True, False]])
    >>> lws_losses(torch.zeros(1, 2), torch.ones(1, 2), S, beta=2.0, psi="sigmoid").item()
    1.5
    """
    if psi == "sigmoid":
        inside, outside = torch.sigmoid(-logits), torch.sigmoid(logits)
    else:
        p = torch.softmax(logits, dim=1)
        inside, outside = -(p + _EPS).log(), -(1 - p + _EPS).log()
    return (weights * torch.where(candidates, inside, beta * outside)).sum(dim=1)


def leveraged_weights(logits: Tensor, candidates: Tensor) -> Tensor:
    """p normalised separately inside the candidates and inside the others, with denominators Σ + q·10⁻⁸.

    Examples
    --------
    >>> leveraged_weights(torch.zeros(1, 3), torch.tensor([[True, True, False]])).round(decimals=3).tolist()
    [[0.5, 0.5, 1.0]]
    """
    p = torch.softmax(logits, dim=1)
    inside, outside = p * candidates, p * ~candidates
    small = logits.shape[1] * _EPS
    return inside / (inside.sum(dim=1, keepdim=True) + small) + outside / (
        outside.sum(dim=1, keepdim=True) + small
    )


@register
class LWS(ConfidenceMethod):
    """mean [ Σ_S C ψ(f) + β Σ_{S̄} C ψ̄(f) ] with weights C refreshed after every step.

    Parameters
    ----------
    beta : float
        Weight of the classes that are excluded; at 0 they have no loss at all.
    psi : {"sigmoid", "cross-entropy"}
        The loss; the second is known as LWC.
    """

    facts = MethodFacts("lws", "leveraged weighted loss", "Wen et al., ICML 2021", "truth is a candidate")

    def __init__(self, beta: float = 1.0, psi: Literal["sigmoid", "cross-entropy"] = "sigmoid") -> None:
        super().__init__(beta=beta, psi=psi)
        check_number("beta", beta)
        check_option("psi", psi, ("sigmoid", "cross-entropy"))
        self.beta, self.psi = beta, psi

    def prepare(self, problem: Problem) -> None:
        """Start with equal weights everywhere."""
        super().prepare(problem)
        self.confidence = torch.full_like(self.confidence, 1 / problem.n_classes)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The leveraged weighted loss."""
        rows = self.rows(batch)
        return lws_losses(logits, self.confidence[rows], self.candidates[rows], self.beta, self.psi).mean()

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """p normalised inside and outside the candidates."""
        return leveraged_weights(logits, candidates)
