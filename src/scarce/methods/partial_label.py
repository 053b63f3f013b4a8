"""Partial-label methods: what is not excluded is a candidate, and a confidence of one is divided among the candidates."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch, Method, Problem

__all__ = [
    "ConfidenceMethod",
    "candidate_losses",
    "candidate_mask",
    "candidate_matrix",
    "eval_logits",
    "softmax_over_candidates",
]


def candidate_mask(excluded: Tensor, confirmed: Tensor | None) -> Tensor:
    """Return S as bool of shape (B, q): every class that is not excluded; a confirmed class (≥ 0) is the only candidate.

    Examples
    --------
    >>> candidate_mask(torch.tensor([[1, 0, 0], [0, 1, 0]]), torch.tensor([-1, 0])).int().tolist()
    [[0, 1, 1], [1, 0, 0]]
    """
    candidates = excluded == 0
    if confirmed is not None:
        is_confirmed = confirmed >= 0
        candidates[is_confirmed] = False
        candidates[is_confirmed, confirmed[is_confirmed]] = True
    return candidates


def candidate_matrix(labels: ComplementaryLabels) -> Tensor:
    """Return the `candidate_mask` of all examples.

    Examples
    --------
    >>> candidate_matrix(ComplementaryLabels.from_lists([[0], [1, 2]], classes=3)).int().tolist()
    [[0, 1, 1], [1, 0, 0]]
    """
    confirmed = torch.tensor(labels.confirmed, dtype=torch.long)
    return candidate_mask(torch.from_numpy(labels.indicator()), confirmed)


def candidate_losses(logits: Tensor, candidates: Tensor) -> Tensor:
    """−log Σ_{j ∈ S} p_j of every row.

    Examples
    --------
    >>> candidate_losses(torch.zeros(1, 4), torch.tensor([[True, True, False, False]])).item()
    0.6931...
    """
    return logits.logsumexp(dim=1) - logits.masked_fill(~candidates, float("-inf")).logsumexp(dim=1)


def softmax_over_candidates(logits: Tensor, candidates: Tensor) -> Tensor:
    """p_j / Σ_{candidates} p for candidates, 0 for the others.

    Examples
    --------
    >>> softmax_over_candidates(torch.zeros(1, 3), torch.tensor([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    return torch.softmax(logits.masked_fill(~candidates, float("-inf")), dim=1)


def eval_logits(model: nn.Module, inputs: Tensor) -> Tensor:
    """Return logits of a new forward pass in evaluation mode, without gradient or update of batch statistics."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(inputs)
    model.train(was_training)
    return logits


class ConfidenceMethod(Method):
    """−mean Σ_j C_ij log p_ij, with a confidence C over the candidates of every example that is learned during training.

    A row without labels has all classes as candidates, so that it trains itself.
    """

    uses_inputs = True

    candidates: Tensor
    confidence: Tensor

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.register_buffer("candidates", torch.empty(0, dtype=torch.bool))
        self.register_buffer("confidence", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start with equal confidence in all candidates."""
        super().prepare(problem)
        self.candidates = candidate_matrix(problem.labels)
        self.confidence = self.candidates / self.candidates.sum(dim=1, keepdim=True)

    def prediction_state(self) -> dict[str, Tensor]:
        """Nothing: the confidences of the training examples are not used in predictions."""
        return {}

    def rows(self, batch: Batch) -> Tensor:
        """The indices of the rows of the batch in the buffers."""
        return batch.index.to(self.confidence.device)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean Σ_j C_ij log p_ij."""
        return -(self.confidence[self.rows(batch)] * log_softmax(logits, dim=1)).sum(dim=1).mean()

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The new confidence of some rows, from logits and candidates of shape (B, q); by default p_j / Σ_S p."""
        return softmax_over_candidates(logits, candidates)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Refresh the confidence of the batch from a new forward pass."""
        rows = self.rows(batch)
        self.confidence[rows] = self.updated_confidence(
            eval_logits(model, batch.inputs), self.candidates[rows]
        )
