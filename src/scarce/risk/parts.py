"""The two parts of every class's risk, from per-class sums over a batch.

For class k, with N_k the rows that exclude it and X all rows,

    P_k = E_X[ℓ(f_k)] − (1 − π_k) E_{N_k}[ℓ(f_k)]        (= π_k E[ℓ(f_k) | y = k], never negative in expectation)
    N_k part = (1 − π_k) E_{N_k}[ℓ(−f_k)].
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from scarce.errors import MethodError

__all__ = ["Absent", "ClassSums", "Form", "RiskParts", "class_sums", "risk_parts"]

Form = Literal["batch", "dataset", "ht"]
Absent = Literal["skip", "keep"]


class ClassSums(NamedTuple):
    """Sums over a batch, each of shape (q,): all that the risk of the batch depends on."""

    everyone: Tensor
    """Σ_i ℓ(f_ik) over all rows."""
    excluded: Tensor
    """Σ_i ȳ_ik ℓ(f_ik) over the rows that exclude k."""
    opposed: Tensor
    """Σ_i ȳ_ik ℓ(−f_ik); zero for multi-class losses, which have no such part."""
    counts: Tensor
    """n_k, how many rows exclude k."""
    n_rows: Tensor
    """B, how many rows there are (a scalar)."""


class RiskParts(NamedTuple):
    """P_k and the N_k part of every class, each of shape (q,)."""

    positive: Tensor
    negative: Tensor


def class_sums(losses: Tensor, opposed: Tensor | None, excluded: Tensor) -> ClassSums:
    """Sum ℓ(f) and ℓ(−f), both of shape (B, q), over all rows and over the rows that exclude each class."""
    return ClassSums(
        everyone=losses.sum(dim=0),
        excluded=(excluded * losses).sum(dim=0),
        opposed=losses.new_zeros(losses.shape[1]) if opposed is None else (excluded * opposed).sum(dim=0),
        counts=excluded.sum(dim=0),
        n_rows=losses.new_tensor(len(losses)),
    )


def risk_parts(
    sums: ClassSums,
    priors: Tensor,
    *,
    form: Form = "batch",
    rates: Tensor | None = None,
    absent: Absent = "skip",
) -> RiskParts:
    """Turn sums into P_k and the N_k part of every class.

    Parameters
    ----------
    sums : ClassSums
        From `class_sums`.
    priors : Tensor of shape (q,)
        π_k.
    form : {"batch", "dataset", "ht"}
        ``batch`` takes means over the batch, as the paper's program does; ``dataset`` is the paper's equation with
        the rates π̄ of the whole data, P_k = (π̄_k + π_k − 1) mean_{N_k} ℓ + (1 − π̄_k) mean_{U_k} ℓ; ``ht`` weights
        every row by 1 − ȳ_k (1 − π_k) / π̄_k. With the batch's own rates the three are the same.
    rates : Tensor of shape (q,), optional
        π̄_k of the whole data; needed by ``dataset`` and ``ht``.
    absent : {"skip", "keep"}
        A class that no row of the batch excludes has nothing to oppose its P_k, which would push its score up on
        every row: ``skip`` leaves it out, ``keep`` does as the paper's program. In ``ht`` the weights account for
        such batches, so only a class that the whole data never excludes is left out.

    Examples
    --------
    >>> losses, excluded = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> risk_parts(class_sums(losses, losses, excluded), torch.tensor([0.5, 0.5])).positive.tolist()
    [1.5, 1.0]
    """
    everyone, excluded, opposed, counts, n_rows = sums
    others = 1 - priors
    if form != "batch" and rates is None:
        raise MethodError(f"form={form!r} needs the rates of the whole data; pass rates=labels.rates.")
    if form == "ht":
        assert rates is not None
        weight = others / torch.where(rates > 0, rates, torch.ones_like(rates))
        positive, negative = (everyone - weight * excluded) / n_rows, weight * opposed / n_rows
        present = rates > 0
    else:
        present = counts > 0
        mean_excluded = excluded / counts.clamp(min=1)
        negative = others * opposed / counts.clamp(min=1)
        if form == "batch":
            positive = everyone / n_rows - others * mean_excluded
        elif form == "dataset":
            assert rates is not None
            mean_rest = (everyone - excluded) / (n_rows - counts).clamp(min=1)
            positive = (rates - others) * mean_excluded + (1 - rates) * mean_rest
        else:
            raise MethodError(f"form={form!r} is unknown; expected 'batch', 'dataset' or 'ht'.")
    if absent == "keep":
        return RiskParts(positive, negative)
    if absent != "skip":
        raise MethodError(f"absent={absent!r} is unknown; expected 'skip' or 'keep'.")
    return RiskParts(positive * present, negative * present)
