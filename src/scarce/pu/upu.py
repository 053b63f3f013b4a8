"""uPU: the unbiased positive-unlabelled risk (du Plessis et al., 2015)."""

from typing import NamedTuple

from torch import Tensor

from scarce.pu.sets import Unlabeled, class_means, unlabeled_rows
from scarce.risk import both_sides

__all__ = ["PURisks", "pu_risks", "upu_losses"]


class PURisks(NamedTuple):
    """The two parts of every class's risk, each of shape (q,)."""

    positive: Tensor
    """r⁺ = θ mean_P ℓ(g)."""
    negative: Tensor
    """r⁻ = mean_U ℓ(−g) − θ mean_P ℓ(−g) (= π_k E[ℓ(−g) | y = k] where U are all rows, never negative in expectation)."""


def pu_risks(
    g: Tensor,
    excluded: Tensor,
    share: Tensor,
    *,
    loss: str = "logistic",
    unlabeled: Unlabeled = "all",
) -> PURisks:
    """Return r⁺ = θ mean_P ℓ(g) and r⁻ = mean_U ℓ(−g) − θ mean_P ℓ(−g) of every class.

    Parameters
    ----------
    g : Tensor of shape (B, q)
        Scores, high for "not k".
    excluded : Tensor of shape (B, q)
        ȳ, 1 where a row excludes a class, in the dtype of the scores.
    share : Tensor of shape (q,)
        θ of `scarce.pu.positive_share`, for the same `unlabeled`.
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    unlabeled : {"all", "rest"}
        See `scarce.pu.unlabeled_rows`.

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> [part.item() for part in pu_risks(g, excluded, torch.tensor([0.5]), loss="hinge")]
    [0.0, 0.0]
    """
    losses, opposed = both_sides(loss, g)
    positives, others = excluded, unlabeled_rows(excluded, unlabeled)
    return PURisks(
        share * class_means(losses, positives),
        class_means(opposed, others) - share * class_means(opposed, positives),
    )


def upu_losses(
    g: Tensor,
    excluded: Tensor,
    share: Tensor,
    *,
    loss: str = "logistic",
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """Return θ mean_P ℓ(g) + mean_U ℓ(−g) − θ mean_P ℓ(−g) of every class.

    With g = −f and all rows as unlabelled this is the uncorrected SCARCE risk. The parameters are those of `pu_risks`.

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> round(upu_losses(g, excluded, torch.tensor([0.5])).item(), 4)
    0.3133
    """
    risks = pu_risks(g, excluded, share, loss=loss, unlabeled=unlabeled)
    return risks.positive + risks.negative
