"""Methods for one complementary label: their loss is a mean over (example, excluded class) pairs."""

from abc import abstractmethod
from collections.abc import Callable

from torch import Tensor

from scarce._validation import check_flag
from scarce.methods.base import Accepts, Batch, Method

__all__ = ["PairMethod", "SingleLabelMethod", "excluded_pairs", "mean_over_pairs"]


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


def mean_over_pairs(
    pair_losses: Callable[[Tensor, Tensor], Tensor], logits: Tensor, excluded: Tensor
) -> Tensor:
    """Return the mean of ℓ̄(f, k) over all (example, excluded class) pairs; 0 if there are none.

    Parameters
    ----------
    pair_losses : callable
        ℓ̄ of shape (P,), from logits of shape (P, q) and excluded classes of shape (P,).
    logits, excluded : Tensor of shape (B, q)
        f, and ȳ: 1 where a class is excluded.

    Examples
    --------
    >>> import torch
    >>> logits, excluded = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0, 1], [1, 0]])
    >>> mean_over_pairs(lambda f, k: f.gather(1, k[:, None]).squeeze(1), logits, excluded).item()
    2.5
    """
    rows, k = excluded_pairs(logits, excluded)
    return pair_losses(rows, k).sum() / max(len(k), 1)


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

    def accepts(self) -> tuple[Accepts, ...]:
        """Return what kinds of rows the method takes."""
        return (*super().accepts(), "multiple") if self.pairs else super().accepts()


class PairMethod(SingleLabelMethod):
    """A loss ℓ̄(f, k) of the logits and one excluded class, averaged over the pairs of the batch.

    Examples without a label have no pair and drop out.
    """

    @abstractmethod
    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """ℓ̄ of every pair, of shape (P,), from logits (P, q) and excluded classes (P,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean of ℓ̄ over the pairs."""
        return mean_over_pairs(self.pair_losses, logits, batch.excluded)
