"""Partial-label methods: what is not excluded is a candidate, and the candidates share one unit of confidence."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch, Method, Problem

__all__ = ["ConfidenceMethod", "candidate_matrix", "logits_of", "over_candidates"]


def candidate_matrix(labels: ComplementaryLabels) -> Tensor:
    """Return S of shape (n, q): 1 for every class an example may still be; a confirmed class is the only one.

    Examples
    --------
    >>> candidate_matrix(ComplementaryLabels.from_lists([[0], [1, 2]], classes=3)).int().tolist()
    [[0, 1, 1], [1, 0, 0]]
    """
    candidates = ~labels.indicator()
    confirmed = np.nonzero(labels.confirmed >= 0)[0]
    candidates[confirmed] = False
    candidates[confirmed, labels.confirmed[confirmed]] = True
    return torch.from_numpy(candidates)


def over_candidates(logits: Tensor, candidates: Tensor) -> Tensor:
    """p_j / Σ_{candidates} p for candidates, 0 for the others.

    Examples
    --------
    >>> over_candidates(torch.zeros(1, 3), torch.tensor([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    return torch.softmax(logits.masked_fill(~candidates, float("-inf")), dim=1)


def logits_of(model: nn.Module, inputs: Tensor) -> Tensor:
    """Return a fresh forward pass without gradient; in evaluation mode, so that batch norm does not move twice a step."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(inputs)
    model.train(was_training)
    return logits


class ConfidenceMethod(Method):
    """−mean Σ_j C_ij log p_ij, with a confidence C over the candidates of every example that is learned on the way.

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
        """Nothing: what was believed of the training examples plays no part in predictions."""
        return {}

    def rows(self, batch: Batch) -> Tensor:
        """Where the rows of the batch stand in the state."""
        return batch.index.to(self.confidence.device)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean Σ_j C_ij log p_ij."""
        return -(self.confidence[self.rows(batch)] * log_softmax(logits, dim=1)).sum(dim=1).mean()

    def refreshed(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The new confidence of some rows, from logits and candidates of shape (B, q); by default p_j / Σ_S p."""
        return over_candidates(logits, candidates)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Refresh the confidence of the batch from a new forward pass."""
        rows = self.rows(batch)
        self.confidence[rows] = self.refreshed(logits_of(model, batch.inputs), self.candidates[rows])
