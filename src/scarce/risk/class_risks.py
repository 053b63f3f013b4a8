"""P_k and Q_k, the two terms of the risk of each class k, from sums over a batch.

    P_k = mean ℓ(f_k) − (1 − π_k) mean_{N_k} ℓ(f_k)        (its expectation is π_k E[ℓ(f_k) | y = k] ≥ 0)
    Q_k = (1 − π_k) mean_{N_k} ℓ(−f_k)

The first mean is over all rows, mean_{N_k} over the rows that exclude k.
"""

from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import MethodError

Form = Literal["batch", "dataset", "ht"]
Absent = Literal["skip", "keep"]


class ClassSums(NamedTuple):
    """Sums over a batch, each of shape (q,), from which its risk is computed.

    Examples
    --------
    >>> excluded = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    >>> class_sums(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), None, excluded).all_rows.tolist()
    [4.0, 6.0]
    """

    all_rows: Tensor
    """Σ_i ℓ(f_ik) over all rows."""
    excluded: Tensor
    """Σ_i ȳ_ik ℓ(f_ik) over the rows that exclude k."""
    negated: Tensor
    """Σ_i ȳ_ik ℓ(−f_ik) over the rows that exclude k; zero for a multi-class loss, which has no such term."""
    counts: Tensor
    """n_k, the number of rows that exclude k."""
    n_rows: int
    """n, the number of rows."""


class ClassRisks(NamedTuple):
    """P_k and Q_k of every class, each of shape (q,).

    Examples
    --------
    >>> ClassRisks(positive=torch.tensor([-0.1, 0.3]), negative=torch.tensor([0.2, 0.1])).positive.min().item() < 0  # overfitted
    True
    """

    positive: Tensor
    """P_k, the risk of the rows that belong to class k."""
    negative: Tensor
    """Q_k, the risk of the rows that belong to other classes."""


def class_sums(losses: Tensor, negated_losses: Tensor | None, excluded: Tensor) -> ClassSums:
    """Sum ℓ(f) and ℓ(−f) over all rows, and over the rows that exclude each class.

    The sums of several batches can be added, to compute the risk of data that do not fit in memory.

    Parameters
    ----------
    losses : Tensor of shape (n, q)
        ℓ(f), or L(f, k) of a multi-class loss.
    negated_losses : Tensor of shape (n, q), or None
        ℓ(−f); None for a multi-class loss.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded, in the dtype of the losses.

    Returns
    -------
    ClassSums
        Sums of shape (q,).

    See Also
    --------
    signed_losses : ℓ(f) and ℓ(−f).
    class_risks : P_k and Q_k.

    Examples
    --------
    >>> losses, excluded = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> class_sums(losses, None, excluded).excluded.tolist()
    [4.0, 0.0]
    """
    return ClassSums(
        all_rows=losses.sum(dim=0),
        excluded=(excluded * losses).sum(dim=0),
        negated=losses.new_zeros(losses.shape[1])
        if negated_losses is None
        else (excluded * negated_losses).sum(dim=0),
        counts=excluded.sum(dim=0),
        n_rows=len(losses),
    )


def class_risks(
    sums: ClassSums,
    priors: Tensor,
    *,
    form: Form = "batch",
    rates: Tensor | None = None,
    absent: Absent = "skip",
) -> ClassRisks:
    """P_k = mean ℓ(f_k) − (1 − π_k) mean_{N_k} ℓ(f_k) and Q_k = (1 − π_k) mean_{N_k} ℓ(−f_k) [1]_, from sums over a batch.

    N_k are the rows that exclude k.

    Parameters
    ----------
    sums : ClassSums
        From `class_sums`.
    priors : Tensor of shape (q,)
        π_k.
    form : {"batch", "dataset", "ht"}
        ``batch`` is the equation above, as in the authors' code. ``dataset`` is the equation of the paper, with the rates π̄ of
        the whole data: P_k = (π̄_k + π_k − 1) mean_{N_k} ℓ(f_k) + (1 − π̄_k) mean_{U_k} ℓ(f_k), where U_k are the rows that do not
        exclude k. ``ht`` (Horvitz-Thompson) weights every row by 1 − ȳ_k (1 − π_k) / π̄_k. If π̄ are the rates of the batch,
        the three are equal.
    rates : Tensor of shape (q,), optional
        π̄_k of the whole data; required for ``dataset`` and ``ht``.
    absent : {"skip", "keep"}
        What to do with a class that no row of the batch excludes. Its P_k is then mean ℓ(f_k), which pushes up its logit on every
        row. ``skip`` leaves it out; ``keep`` does not, as in the authors' code. The weights of ``ht`` account for such batches, so
        it leaves out only classes that no row of the whole data excludes.

    Returns
    -------
    ClassRisks
        P_k and Q_k, each of shape (q,).

    Raises
    ------
    MethodError
        If an option is unknown, or if `rates` are required and missing.

    See Also
    --------
    class_sums : The sums.
    make_correction : Corrections of a negative P_k.
    scarce_risk : The corrected sum over all classes.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> losses, excluded = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> class_risks(class_sums(losses, losses, excluded), torch.tensor([0.5, 0.5])).positive.tolist()
    [1.5, 1.0]
    """
    all_rows, excluded, negated = _weights(sums.counts, sums.n_rows, priors, form, rates, absent)
    return ClassRisks(all_rows * sums.all_rows - excluded * sums.excluded, negated * sums.negated)


def check_form(form: str, absent: str) -> None:
    """Check the options `form` and `absent` of `class_risks`.

    Examples
    --------
    >>> check_form("batch", "drop")
    Traceback (most recent call last):
    scarce.errors.MethodError: absent='drop' is unknown; expected 'skip' or 'keep'.
    """
    check_option("form", form, get_args(Form))
    check_option("absent", absent, get_args(Absent))


def _weights(
    counts: Tensor, n_rows: int, priors: Tensor, form: Form, rates: Tensor | None, absent: Absent
) -> tuple[Tensor, Tensor, Tensor]:
    """Return a, b, c of shape (q,) with P_k = a_k Σ ℓ(f_k) − b_k Σ ȳ_k ℓ(f_k) and Q_k = c_k Σ ȳ_k ℓ(−f_k)."""
    check_form(form, absent)
    if form == "batch":
        present = counts > 0
        excluded = negated = (1 - priors) / counts.clamp(min=1)
        all_rows = torch.full_like(priors, 1 / n_rows)
    else:
        if rates is None:
            raise MethodError(f"form={form!r} needs the rates of the whole data; pass rates=labels.rates.")
        if form == "ht":
            present = rates > 0
            excluded = negated = (1 - priors) / (n_rows * rates.where(present, torch.ones_like(rates)))
            all_rows = torch.full_like(priors, 1 / n_rows)
        else:
            present = counts > 0
            negated = (1 - priors) / counts.clamp(min=1)
            all_rows = (1 - rates) / (n_rows - counts).clamp(min=1)
            excluded = all_rows + (1 - priors - rates) / counts.clamp(min=1)
    # For an absent class, the sums over N_k are zero already, so only the sum over all rows has to be removed.
    return all_rows if absent == "keep" else all_rows * present, excluded, negated
