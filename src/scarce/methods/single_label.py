"""Methods for one complementary label per example: the loss is a mean over (example, excluded class) pairs."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from scarce._validation import check_flag
from scarce.methods.base import Batch, Method

__all__ = ["PairMethod", "SingleLabelMethod", "excluded_pairs", "mean_over_pairs"]


def excluded_pairs(logits: Tensor, excluded: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logits and the excluded class of every (example, excluded class) pair of a batch.

    Parameters
    ----------
    logits : Tensor of shape (B, q)
        One row per example.
    excluded : Tensor of shape (B, q)
        ȳ, 1 where a class is excluded.

    Returns
    -------
    rows : Tensor of shape (n, q)
        The logits of each of the n pairs; an example with several labels appears several times.
    k : Tensor of shape (n,)
        The excluded class of each pair.

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
        ℓ̄ of shape (m,), from logits of shape (m, q) and excluded classes of shape (m,).
    logits : Tensor of shape (n, q)
        f.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded; m entries are 1.

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
    """Base of methods for exactly one complementary label per example.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example; by default they raise an error.
    """

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs=pairs)
        check_flag("pairs", pairs)
        self.pairs = pairs
        if pairs:
            self.facts = replace(self.facts, accepts=(*self.facts.accepts, "multiple"))


class PairMethod(SingleLabelMethod):
    """Mean ℓ̄(f, k) over the (example, excluded class) pairs of the batch; a subclass defines ℓ̄.

    Rows that exclude no class have no pair and are ignored.

    Examples
    --------
    A loss is its formula and its facts; `register` makes it available by name:

    >>> import torch
    >>> from scarce.methods import Batch, MethodFacts, PairMethod
    >>> class LargestLogit(PairMethod):
    ...     facts = MethodFacts("logit", "the logit itself", "nobody", "nothing", accepts=("single",))
    ...     def pair_losses(self, logits, k):
    ...         return logits.gather(1, k[:, None]).squeeze(1)
    >>> batch = Batch(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
    >>> LargestLogit().loss(torch.tensor([[1.0, 3.0]]), batch).item()
    3.0
    """

    @abstractmethod
    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """Return ℓ̄ of every pair, of shape (n,), from logits of shape (n, q) and excluded classes k of shape (n,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean ℓ̄ over the pairs."""
        return mean_over_pairs(self.pair_losses, logits, batch.excluded)
