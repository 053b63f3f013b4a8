"""LWS: separate weights for candidates and for excluded classes."""

from typing import Literal

import torch
from torch import Tensor

from scarce._validation import check_number, check_option
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register

_EPS = 1e-8


def lws_losses(logits: Tensor, weights: Tensor, candidates: Tensor, beta: float, psi: str) -> Tensor:
    """Σ_{j ∈ S} C_j ψ(f_j) + β Σ_{j ∉ S} C_j ψ̄(f_j) of every row.

    For ``"sigmoid"``, ψ(f_j) = σ(−f_j) and ψ̄(f_j) = σ(f_j). For ``"cross-entropy"``, they are −log(p_j + 10⁻⁸) and
    −log(1 − p_j + 10⁻⁸), with p = softmax(f).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    weights : Tensor of shape (n, q)
        C.
    candidates : Tensor of bool, shape (n, q)
        S, the classes that are not excluded.
    beta : float
        β, the weight of the excluded classes.
    psi : {"sigmoid", "cross-entropy"}
        The loss ψ.

    Returns
    -------
    Tensor of shape (n,)

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
    """C_j = p_j / Σ_S p for candidates and p_j / Σ_{S̄} p for excluded classes, with p = softmax(f).

    Each denominator has q·10⁻⁸ added to it.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    candidates : Tensor of bool, shape (n, q)
        S, the classes that are not excluded.

    Returns
    -------
    Tensor of shape (n, q)

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
    """mean [ Σ_{j ∈ S} C_j ψ(f_j) + β Σ_{j ∉ S} C_j ψ̄(f_j) ], S being the candidates, the classes that are not excluded.

    A one-versus-rest loss that raises the logits of candidates and lowers those of excluded classes [1]_. After every step, the
    weights C are set to p = softmax(f), normalized over the candidates and over the excluded classes separately.

    Parameters
    ----------
    beta : float
        Weight of the excluded classes; with 0, only candidates enter the loss.
    psi : {"sigmoid", "cross-entropy"}
        The loss ψ; ``"cross-entropy"`` is known as LWC.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        C.

    See Also
    --------
    PRODEN, RiskConsistent : Weight the candidates alone.
    scarce.functional.lws_loss : The loss as a function.

    References
    ----------
    .. [1] H. Wen, J. Cui, H. Hang, J. Liu, Y. Wang and Z. Lin, "Leveraged Weighted Loss for Partial Label Learning",
       ICML 2021. https://arxiv.org/abs/2106.05731

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("lws", beta=2.0)
    LWS(beta=2.0, psi='sigmoid')
    """

    facts = MethodFacts(
        "lws",
        "leveraged weighted loss",
        "Wen et al., ICML 2021",
        "truth is a candidate",
        url="https://arxiv.org/abs/2106.05731",
    )

    def __init__(self, beta: float = 1.0, psi: Literal["sigmoid", "cross-entropy"] = "sigmoid") -> None:
        super().__init__(beta=beta, psi=psi)
        check_number("beta", beta)
        check_option("psi", psi, ("sigmoid", "cross-entropy"))
        self.beta, self.psi = beta, psi

    def prepare(self, problem: Problem) -> None:
        """Start with equal weights for all classes."""
        super().prepare(problem)
        self.confidence = torch.full_like(self.confidence, 1 / problem.n_classes)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The leveraged weighted loss."""
        rows = self.rows(batch)
        return lws_losses(logits, self.confidence[rows], self.candidates[rows], self.beta, self.psi).mean()

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """Return p normalized over the candidates and over the excluded classes."""
        return leveraged_weights(logits, candidates)
