"""How exclusions came about, as far as the labels tell: one at a time or independently, and of which examples."""

import torch
from torch import Tensor

from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch

__all__ = ["labeled_rates", "was_labeled"]


def was_labeled(batch: Batch, singly: bool) -> Tensor:
    """Return of which rows it was asked what they exclude; of the others nothing is known of how marks come about.

    Those are rows without a mark where marks come singly, and otherwise rows of a confirmed class without one, as
    ordinary labels are.

    Examples
    --------
    >>> batch = Batch(torch.zeros(2, 1), torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.tensor([0, 1]))
    >>> was_labeled(batch, singly=True).tolist(), was_labeled(batch, singly=False).tolist()
    ([True, False], [True, True])
    """
    has_mark = (batch.excluded > 0).any(dim=1)
    if singly:
        return has_mark
    return torch.ones_like(has_mark) if batch.confirmed is None else has_mark | (batch.confirmed < 0)


def labeled_rates(labels: ComplementaryLabels, singly: bool) -> Tensor:
    """Return π̄ of shape (q,), the share that excludes each class of the examples that `was_labeled`.

    Examples
    --------
    >>> from scarce.labels import ComplementaryLabels
    >>> labeled_rates(ComplementaryLabels.from_lists([[0], [1], []], classes=2), singly=True).tolist()
    [0.5, 0.5]
    """
    has_mark = labels.per_example > 0
    marked = has_mark if singly else has_mark | (labels.confirmed < 0)
    return torch.from_numpy(labels.rates * (labels.n_examples / max(1, int(marked.sum()))))
