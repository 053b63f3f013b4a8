"""Which rows are the positives and the unlabelled of a class, and means over them."""

from typing import Literal, get_args

import torch
from torch import Tensor

from scarce._validation import check_option

__all__ = ["Unlabeled", "check_unlabeled", "class_means", "unlabeled_rows"]

Unlabeled = Literal["all", "rest"]


def check_unlabeled(unlabeled: str) -> None:
    """Refuse another word than ``all`` or ``rest``.

    Examples
    --------
    >>> check_unlabeled("some")
    Traceback (most recent call last):
    scarce.errors.MethodError: unlabeled='some' is unknown; expected 'all' or 'rest'.
    """
    check_option("unlabeled", unlabeled, get_args(Unlabeled))


def unlabeled_rows(excluded: Tensor, unlabeled: Unlabeled) -> Tensor:
    """Return the unlabelled rows of every class as 0/1 of shape (B, q).

    Parameters
    ----------
    excluded : Tensor of shape (B, q)
        ȳ, 1 where a row excludes a class; these are the positives.
    unlabeled : {"all", "rest"}
        ``all`` rows, a sample of p(x) in which the positives appear again; or the ``rest``, the rows that do not
        exclude the class. Each goes with its own share of positives; see `scarce.pu.positive_share`.

    Examples
    --------
    >>> unlabeled_rows(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "rest").tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    check_unlabeled(unlabeled)
    return torch.ones_like(excluded) if unlabeled == "all" else 1 - excluded


def class_means(values: Tensor, rows: Tensor) -> Tensor:
    """Return the mean of every column of `values` over the `rows` (0/1) of its class; 0 where there are none.

    Examples
    --------
    >>> class_means(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    return (rows * values).sum(dim=0) / rows.sum(dim=0).clamp(min=1)
