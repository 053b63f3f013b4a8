"""The SCARCE risk of a batch: one-versus-rest, or with a multi-class loss."""

from torch import Tensor

from scarce.risk.binary_losses import signed_losses
from scarce.risk.class_risks import Absent, ClassSums, Form, class_risks, class_sums
from scarce.risk.corrections import Correction, make_correction
from scarce.risk.multiclass_losses import multiclass_loss


def scarce_risk(
    logits: Tensor,
    excluded: Tensor,
    priors: Tensor,
    *,
    loss: str = "logistic",
    correction: str | Correction = "abs",
    form: Form = "batch",
    rates: Tensor | None = None,
    absent: Absent = "skip",
) -> Tensor:
    """Σ_k (g(P_k) + Q_k), the one-versus-rest risk from complementary labels [1]_, with a correction g.

    P_k and Q_k are those of `class_risks`. Under SCAR, p(x | ȳ_k = 1) = p(x | y ≠ k), so without a correction this is an unbiased
    estimate of the ordinary risk E[ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k)].

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded, in the dtype of the logits.
    priors : Tensor of shape (q,)
        π.
    loss : str
        ℓ, one of `BINARY_LOSSES`.
    correction : {"none", "abs", "relu", "leaky", "nnpu"} or callable
        g, by name or returned by `make_correction`, which sets its parameters.
    form, rates, absent
        See `class_risks`.

    Returns
    -------
    Tensor of shape ()
        The risk.

    See Also
    --------
    class_risks : P_k and Q_k.
    multiclass_scarce_risk : The same with a multi-class loss.
    scarce.functional.scarce_risk : The same with checks of its arguments, for your own training loop.
    scarce.methods.Scarce : The method.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> import torch
    >>> logits = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    >>> excluded = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(scarce_risk(logits, excluded, torch.full((3,), 1 / 3), absent="keep").item(), 4)
    0.9996
    """
    sums = class_sums(*signed_losses(loss, logits), excluded)
    return _corrected_risk(sums, priors, correction, form, rates, absent)


def multiclass_scarce_risk(
    logits: Tensor,
    excluded: Tensor,
    priors: Tensor,
    *,
    loss: str = "cce",
    correction: str | Correction = "abs",
    form: Form = "batch",
    rates: Tensor | None = None,
    absent: Absent = "skip",
) -> Tensor:
    """Σ_k g( mean L(f, k) − (1 − π_k) mean_{N_k} L(f, k) ), the risk with a multi-class loss L [1]_.

    N_k are the rows that exclude k, and g is a correction.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded, in the dtype of the logits.
    priors : Tensor of shape (q,)
        π.
    loss : str
        L, one of `MULTICLASS_LOSSES`.
    correction, form, rates, absent
        As in `scarce_risk`.

    Returns
    -------
    Tensor of shape ()
        The risk.

    See Also
    --------
    scarce_risk : The same, one class against the rest.
    scarce.functional.multiclass_scarce_risk : The same with checks of its arguments, for your own training loop.
    scarce.methods.ScarceCCE : The method.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> import torch
    >>> logits = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    >>> excluded = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(multiclass_scarce_risk(logits, excluded, torch.full((3,), 1 / 3), absent="keep").item(), 4)
    1.5956
    """
    sums = class_sums(multiclass_loss(loss)(logits), None, excluded)
    return _corrected_risk(sums, priors, correction, form, rates, absent)


def _corrected_risk(
    sums: ClassSums,
    priors: Tensor,
    correction: str | Correction,
    form: Form,
    rates: Tensor | None,
    absent: Absent,
) -> Tensor:
    correct = make_correction(correction) if isinstance(correction, str) else correction
    return correct(class_risks(sums, priors, form=form, rates=rates, absent=absent)).sum()
