"""Partial-label methods: the classes that are not excluded are candidates; each example has a confidence in each of them."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch, Method, Problem


def candidate_mask(excluded: Tensor, confirmed: Tensor | None) -> Tensor:
    """Return the candidates S of every row: the classes that are not excluded, or only the confirmed class if there is one.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded.
    confirmed : Tensor of int, shape (n,), or None
        The confirmed class of each row, −1 where it is unknown.

    Returns
    -------
    Tensor of bool, shape (n, q)

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
    """Return the `candidate_mask` of all examples, of shape (n, q).

    Examples
    --------
    >>> candidate_matrix(ComplementaryLabels.from_lists([[0], [1, 2]], classes=3)).int().tolist()
    [[0, 1, 1], [1, 0, 0]]
    """
    confirmed = torch.tensor(labels.confirmed, dtype=torch.long)
    return candidate_mask(torch.from_numpy(labels.indicator()), confirmed)


def candidate_losses(logits: Tensor, candidates: Tensor) -> Tensor:
    """−log Σ_{j ∈ S} p_j of every row, with p = softmax(f).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    candidates : Tensor of bool, shape (n, q)
        S, the classes that are not excluded.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> candidate_losses(torch.zeros(1, 4), torch.tensor([[True, True, False, False]])).item()
    0.6931...
    """
    return logits.logsumexp(dim=1) - logits.masked_fill(~candidates, float("-inf")).logsumexp(dim=1)


def softmax_over_candidates(logits: Tensor, candidates: Tensor) -> Tensor:
    """p_j / Σ_{i ∈ S} p_i for the candidates S and 0 for other classes, with p = softmax(f).

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
    >>> softmax_over_candidates(torch.zeros(1, 3), torch.tensor([[True, True, False]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    return torch.softmax(logits.masked_fill(~candidates, float("-inf")), dim=1)


def eval_logits(model: nn.Module, inputs: Tensor) -> Tensor:
    """Return the logits of a forward pass in evaluation mode, without gradients and without updating batch statistics."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(inputs)
    model.train(was_training)
    return logits


class ConfidenceMethod(Method):
    """−mean Σ_j C_ij log p_ij, where C_i is the confidence of example i in its candidates, learned during training.

    All classes are candidates of a row without labels, so on such rows the model trains on its own predictions.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        C.

    Examples
    --------
    A method that puts all confidence on the most probable candidate:

    >>> from scarce.methods import ConfidenceMethod, MethodFacts
    >>> class Likeliest(ConfidenceMethod):
    ...     facts = MethodFacts("likeliest", "likeliest candidate", "nobody", "truth is a candidate")
    ...     def updated_confidence(self, logits, candidates):
    ...         best = softmax_over_candidates(logits, candidates).argmax(dim=1)
    ...         return torch.nn.functional.one_hot(best, logits.shape[1]).to(logits)
    >>> Likeliest().updated_confidence(torch.tensor([[1.0, 3.0]]), torch.tensor([[True, False]])).tolist()
    [[1.0, 0.0]]
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
        """Return nothing: predictions do not use the confidences of the training examples."""
        return {}

    def rows(self, batch: Batch) -> Tensor:
        """Return the indices of the batch's rows in the buffers."""
        return batch.index.to(self.confidence.device)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean Σ_j C_ij log p_ij."""
        return -(self.confidence[self.rows(batch)] * log_softmax(logits, dim=1)).sum(dim=1).mean()

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """Return the new confidence from logits and candidates, all of shape (n, q); by default the softmax over the candidates."""
        return softmax_over_candidates(logits, candidates)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Update the confidence of the batch from a new forward pass."""
        rows = self.rows(batch)
        self.confidence[rows] = self.updated_confidence(
            eval_logits(model, batch.inputs), self.candidates[rows]
        )
