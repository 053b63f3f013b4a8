"""Methods for one complementary label: their loss is a mean over (example, excluded class) pairs."""

from abc import abstractmethod
from dataclasses import replace

from torch import Tensor

from scarce._validation import check_flag
from scarce.methods.base import Batch, Method

__all__ = ["PairMethod", "SingleLabelMethod", "excluded_pairs"]


def excluded_pairs(logits: Tensor, excluded: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logits (P, q) and the excluded class (P,) of every (example, excluded class) pair.

    Examples
    --------
    >>> import torch
    >>> rows, k = excluded_pairs(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0, 1], [0, 0]]))
    >>> rows.tolist(), k.tolist()
    ([[1.0, 2.0]], [1])
    """
    rows, k = excluded.nonzero(as_tuple=True)
    return logits[rows], k


class SingleLabelMethod(Method):
    """A method for exactly one complementary label per example.

    Parameters
    ----------
    pairs : bool
        Take several labels per example, each as an example of its own, instead of raising an error.
    """

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs=pairs)
        check_flag("pairs", pairs)
        self.pairs = pairs
        if pairs:
            self.facts = replace(self.facts, accepts=(*self.facts.accepts, "multiple"))


class PairMethod(SingleLabelMethod):
    """A loss ℓ̄(f, k) of the logits and one excluded class, averaged over the pairs of the batch.

    Examples without a label have no pair and drop out.
    """

    @abstractmethod
    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """ℓ̄ of every pair, of shape (P,), from logits (P, q) and excluded classes (P,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean of ℓ̄ over the pairs."""
        rows, k = excluded_pairs(logits, batch.excluded)
        return self.pair_losses(rows, k).sum() / max(len(k), 1)
