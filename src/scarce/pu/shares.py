"""From class priors to the share of positives among the unlabelled rows, and back."""

from typing import TypeVar

from torch import Tensor

from scarce.pu.sets import Unlabeled, check_unlabeled

__all__ = ["positive_share", "priors_from_share"]

Numbers = TypeVar("Numbers", float, Tensor)


def positive_share(priors: Tensor, rates: Tensor, unlabeled: Unlabeled = "all") -> Tensor:
    """Return θ_k, the share of the unlabelled rows of class k that are *not k*.

    Of all rows it is θ_k = p(y ≠ k) = 1 − π_k. Of the rest, which lacks those that exclude k, it is

        θ_k = p(y ≠ k | ȳ_k = 0) = 1 − π_k / (1 − π̄_k).

    Parameters
    ----------
    priors, rates : Tensor of shape (q,)
        π_k, and π̄_k: the share of the whole data that excludes k.
    unlabeled : {"all", "rest"}
        Which rows are meant.

    Examples
    --------
    >>> import torch
    >>> priors, rates = torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.25])
    >>> positive_share(priors, rates).tolist(), positive_share(priors, rates, "rest").tolist()
    ([0.75, 0.25], [0.5, 0.0])
    """
    check_unlabeled(unlabeled)
    if unlabeled == "all":
        return 1 - priors
    rest = (1 - rates).clamp(min=1e-12)
    return (1 - priors / rest).clamp(min=0)  # by chance a sample may exclude k more often than 1 − π_k


def priors_from_share(share: Numbers, rates: Numbers, unlabeled: Unlabeled = "all") -> Numbers:
    """Return π_k from θ_k: 1 − θ_k if the unlabelled are all rows, (1 − θ_k)(1 − π̄_k) if they are the rest.

    Examples
    --------
    >>> import torch
    >>> priors_from_share(torch.tensor([0.75]), torch.tensor([0.5]), "rest").tolist()
    [0.125]
    """
    check_unlabeled(unlabeled)
    return 1 - share if unlabeled == "all" else (1 - share) * (1 - rates)
