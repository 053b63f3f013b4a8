"""Keep the scores of all training rows, from the forward passes of the training steps; hold rows out of the loss."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from scarce.methods.base import Batch, Problem
from scarce.methods.meta.base import MetaMethod


def held_out_or_all(excluded: Tensor, validation_mask: Tensor) -> Tensor:
    """Return which rows to measure each class on: the held-out rows, or all rows if no held-out row excludes the class.

    Parameters
    ----------
    excluded : Tensor of bool, shape (n, q)
        ȳ, True where a class is excluded.
    validation_mask : Tensor of bool, shape (n,)
        Which rows are held out.

    Returns
    -------
    Tensor of bool, shape (n, q)

    Examples
    --------
    >>> excluded = torch.tensor([[True, False], [False, True]])
    >>> held_out_or_all(excluded, torch.tensor([True, False])).tolist()
    [[True, True], [False, True]]
    """
    is_missing = ~(excluded & validation_mask[:, None]).any(dim=0)
    return validation_mask[:, None] | is_missing


class RecordingMethod(MetaMethod):
    """Base of methods that need the scores g of every training row; they record them in each step instead of in a second pass.

    A fraction `hold_out` of the rows, rounded down, is left out of the loss. Their scores are recorded too.

    Attributes
    ----------
    scores_seen : Tensor of shape (n, q)
        The latest scores g of every training row.
    validation_mask : Tensor of bool, shape (n,)
        Which rows are held out.
    """

    hold_out: float = 0.0

    scores_seen: Tensor
    validation_mask: Tensor

    def prepare(self, problem: Problem) -> None:
        """Allocate memory for the scores, and draw the rows to hold out."""
        super().prepare(problem)
        self.register_buffer("scores_seen", torch.zeros(problem.n_examples, problem.n_classes))
        self.register_buffer("validation_mask", torch.zeros(problem.n_examples, dtype=torch.bool))
        n_held_out = int(self.hold_out * problem.n_examples)
        if n_held_out:
            self.validation_mask[torch.randperm(problem.n_examples)[:n_held_out]] = True

    def rows(self, batch: Batch) -> Tensor:
        """Return the indices of the batch's rows in the buffers."""
        return batch.index.to(self.scores_seen.device)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_k L_k over the rows that are not held out."""
        self._scores = -logits.detach()[: len(batch.index)]
        is_used = ~self.validation_mask[self.rows(batch)]
        if is_used.all():
            return super().loss(logits, batch)
        trained = replace(
            batch, excluded=batch.excluded[is_used], index=batch.index[is_used.to(batch.index.device)]
        )
        return super().loss(logits[is_used], trained)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Record the scores of the batch."""
        self.scores_seen[self.rows(batch)] = self._scores.to(self.scores_seen)
