"""The SCARCE risk: one-versus-rest, or with a multi-class loss."""

from torch import Tensor

from scarce import risk
from scarce._validation import check_number
from scarce.errors import MethodError
from scarce.functional._arguments import (
    Numbers,
    as_class_weights,
    as_priors,
    as_rates,
    check_confirmed,
    check_rows,
)
from scarce.risk.class_risks import Absent, Form
from scarce.risk.corrections import Correction


def scarce_risk(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    loss: str = "logistic",
    correction: str | Correction = "abs",
    form: Form = "batch",
    rates: Numbers | None = None,
    absent: Absent = "skip",
    confirmed: Tensor | None = None,
    confirmation_weights: Numbers | None = None,
    alpha: float = 0.5,
) -> Tensor:
    """Σ_k (|P_k| + Q_k), the one-versus-rest SCARCE risk [1]_ with a binary loss ℓ.

    P_k = mean ℓ(f_k) − (1 − π_k) mean_{ȳ_k = 1} ℓ(f_k) and Q_k = (1 − π_k) mean_{ȳ_k = 1} ℓ(−f_k). If exclusions are selected
    completely at random (SCAR), Σ_k (P_k + Q_k) is an unbiased estimate of the ordinary one-versus-rest risk. P_k estimates
    π_k E[ℓ(f_k) | y = k], which is never negative; the absolute value corrects estimates that are.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.
    priors : Tensor or array of shape (q,)
        Class priors π.
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    correction : {"abs", "relu", "leaky", "nnpu", "none"} or callable
        The correction; ``abs`` is |P_k|. For its parameters, pass a callable from `scarce.risk.make_correction`.
    form : {"batch", "dataset", "ht"}
        How P_k is estimated from a batch; see `scarce.risk.class_risks`.
    rates : Tensor or array of shape (q,), optional
        π̄, the fraction of all training rows that exclude each class. The forms ``dataset`` and ``ht`` need it.
    absent : {"skip", "keep"}
        What to do with a class that no row of the batch excludes: ``skip`` leaves it out of the sum.
    confirmed : Tensor of int, shape (n,), optional
        The true class of each row, −1 where it is unknown. The result is then α R̂ + (1 − α) R̂ᴼ: R̂ is the risk above, and R̂ᴼ
        the ordinary risk, estimated from the confirmed rows.
    confirmation_weights : Tensor or array of shape (q,), optional
        1 / P(confirmed | y) for every class, from `scarce.risk.confirmation_weights`; required with `confirmed`.
    alpha : float
        α, from 0 to 1; only used with `confirmed`.

    Returns
    -------
    Tensor
        The risk, a scalar.

    See Also
    --------
    scarce.methods.Scarce : The method for `ScarceClassifier`.
    scarce.functional.multiclass_scarce_risk : The same with a multi-class loss.
    scarce.functional.upu_risk : The same without a correction, written as a positive-unlabeled risk.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import scarce_risk
    >>> logits = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], requires_grad=True)
    >>> excluded = torch.tensor([[False, True, False], [False, False, True]])
    >>> loss = scarce_risk(logits, excluded, priors=[0.5, 0.25, 0.25])
    >>> round(loss.item(), 4)
    0.7862
    >>> loss.backward()
    """
    logits, excluded = check_rows(logits, excluded)
    value = risk.scarce_risk(
        logits,
        excluded,
        as_priors(priors, logits),
        loss=loss,
        correction=correction,
        form=form,
        rates=None if rates is None else as_rates(rates, logits),
        absent=absent,
    )
    confirmed = check_confirmed(confirmed, logits)
    if confirmed is None:
        return value
    ordinary_losses = risk.ovr_ordinary_losses(*risk.signed_losses(loss, logits), confirmed)
    return _mixed(value, logits, ordinary_losses, confirmed, confirmation_weights, alpha)


def multiclass_scarce_risk(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    loss: str = "cce",
    correction: str | Correction = "abs",
    form: Form = "batch",
    rates: Numbers | None = None,
    absent: Absent = "skip",
    confirmed: Tensor | None = None,
    confirmation_weights: Numbers | None = None,
    alpha: float = 0.5,
) -> Tensor:
    """Σ_k |mean L(f, k) − (1 − π_k) mean_{ȳ_k = 1} L(f, k)|, the SCARCE risk [1]_ with a multi-class loss L.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.
    priors : Tensor or array of shape (q,)
        Class priors π.
    loss : str
        L, one of `scarce.risk.MULTICLASS_LOSSES`.
    correction, form, rates, absent, confirmed, confirmation_weights, alpha
        As in `scarce_risk`.

    Returns
    -------
    Tensor
        The risk, a scalar.

    See Also
    --------
    scarce.methods.ScarceCCE : The method for `ScarceClassifier`.
    scarce.functional.scarce_risk : The same, one class against the rest.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import multiclass_scarce_risk
    >>> logits = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    >>> excluded = torch.tensor([[False, True, False], [False, False, True]])
    >>> round(multiclass_scarce_risk(logits, excluded, priors=[0.5, 0.25, 0.25], absent="keep").item(), 4)
    1.5805
    """
    logits, excluded = check_rows(logits, excluded)
    value = risk.multiclass_scarce_risk(
        logits,
        excluded,
        as_priors(priors, logits),
        loss=loss,
        correction=correction,
        form=form,
        rates=None if rates is None else as_rates(rates, logits),
        absent=absent,
    )
    confirmed = check_confirmed(confirmed, logits)
    if confirmed is None:
        return value
    ordinary_losses = risk.multiclass_ordinary_losses(risk.multiclass_loss(loss)(logits), confirmed)
    return _mixed(value, logits, ordinary_losses, confirmed, confirmation_weights, alpha)


def _mixed(
    value: Tensor,
    logits: Tensor,
    ordinary_losses: Tensor,
    confirmed: Tensor,
    weights: Numbers | None,
    alpha: float,
) -> Tensor:
    if weights is None:
        raise MethodError(
            "confirmed is given without confirmation_weights; expected one weight per class: pass "
            "confirmation_weights=scarce.risk.confirmation_weights(labels)."
        )
    check_number("alpha", alpha, high=1)
    class_weights = as_class_weights("confirmation_weights", weights, logits)
    return risk.mix_with_ordinary(value, ordinary_losses, confirmed, class_weights, alpha)
