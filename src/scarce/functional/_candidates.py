"""Partial-label losses: every class that is not excluded is a candidate."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce._validation import check_number, check_option
from scarce.errors import MethodError
from scarce.functional._arguments import as_row_weights, check_confirmed, check_rows
from scarce.methods.lws import lws_losses
from scarce.methods.partial_label import candidate_losses, candidate_mask


def cc_loss(logits: Tensor, excluded: Tensor, *, confirmed: Tensor | None = None) -> Tensor:
    """−mean log Σ_{j ∈ S} p_j over the candidates S of each row, the classes that are not excluded.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row that excludes no class contributes 0 to the mean.
    confirmed : Tensor of int, shape (n,), optional
        The true class of rows where it is known, −1 elsewhere; it is then the only candidate.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.ClassifierConsistent : The method for `ScarceClassifier`.
    scarce.functional.rc_loss : The same with a confidence for every candidate.

    References
    ----------
    .. [1] L. Feng, J. Lv, B. Han, M. Xu, G. Niu, X. Geng, B. An and M. Sugiyama, "Provably Consistent Partial-Label
       Learning", NeurIPS 2020. https://arxiv.org/abs/2007.08929

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import cc_loss
    >>> round(cc_loss(torch.zeros(1, 4), torch.tensor([[False, True, True, False]])).item(), 4)
    0.6931
    """
    logits, excluded = check_rows(logits, excluded)
    return candidate_losses(logits, candidate_mask(excluded, check_confirmed(confirmed, logits))).mean()


def rc_loss(
    logits: Tensor,
    excluded: Tensor,
    *,
    confidence: Tensor | None = None,
    confirmed: Tensor | None = None,
) -> Tensor:
    """−mean Σ_j C_ij log p_ij, with a confidence C over the candidates of each row.

    The methods RC, PRODEN, POP and CAVL share this loss; they differ in how C is updated after a step. RC and PRODEN set
    C to p over the candidates, RC from a new forward pass, PRODEN from that of the loss.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; all other classes are candidates.
    confidence : Tensor of shape (n, q), optional
        C of these rows, 0 for excluded classes; no gradient flows through it. By default all candidates are equal, as these
        methods start.
    confirmed : Tensor of int, shape (n,), optional
        The true class of rows where it is known, −1 elsewhere; it is then the only candidate.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.RiskConsistent, scarce.methods.PRODEN, scarce.methods.POP, scarce.methods.CAVL : The methods for
        `ScarceClassifier`, which update the confidence.

    References
    ----------
    .. [1] L. Feng, J. Lv, B. Han, M. Xu, G. Niu, X. Geng, B. An and M. Sugiyama, "Provably Consistent Partial-Label
       Learning", NeurIPS 2020. https://arxiv.org/abs/2007.08929
    .. [2] J. Lv, M. Xu, L. Feng, G. Niu, X. Geng and M. Sugiyama, "Progressive Identification of True Labels for
       Partial-Label Learning", ICML 2020. https://arxiv.org/abs/2002.08053

    Examples
    --------
    PRODEN keeps the confidence of all rows, and updates that of the batch:

    >>> import torch
    >>> from scarce.functional import rc_loss
    >>> excluded = torch.tensor([[False, False, True]])
    >>> confidence = torch.tensor([[0.5, 0.5, 0.0]])
    >>> logits = torch.tensor([[2.0, 0.0, 1.0]], requires_grad=True)
    >>> round(rc_loss(logits, excluded, confidence=confidence).item(), 4)
    1.4076
    >>> confidence = logits.detach().masked_fill(excluded, float("-inf")).softmax(dim=1)
    >>> round(rc_loss(logits, excluded, confidence=confidence).item(), 4)
    0.646
    """
    logits, excluded = check_rows(logits, excluded)
    candidates = candidate_mask(excluded, check_confirmed(confirmed, logits))
    if confidence is None:
        weights = candidates.to(logits) / candidates.sum(dim=1, keepdim=True)
    else:
        weights = as_row_weights("confidence", confidence, logits)
        if (weights * ~candidates).any():
            raise MethodError(
                "confidence is above 0 for a class that is excluded; expected 0: pass confidence * candidates."
            )
    return -(weights * log_softmax(logits, dim=1)).sum(dim=1).mean()


def lws_loss(
    logits: Tensor,
    excluded: Tensor,
    *,
    weights: Tensor | None = None,
    beta: float = 1.0,
    psi: Literal["sigmoid", "cross-entropy"] = "sigmoid",
    confirmed: Tensor | None = None,
) -> Tensor:
    """Mean Σ_{j ∈ S} w_j ψ(f_j) + β Σ_{j ∉ S} w_j ψ̄(f_j), with weights w of candidates S and of excluded classes.

    ψ = σ(−f) and ψ̄ = σ(f), or with ``cross-entropy`` −log p and −log(1 − p). LWS updates w after a step: p, scaled to sum to one
    over the candidates and to one over the excluded classes.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; all other classes are candidates.
    weights : Tensor of shape (n, q), optional
        w of these rows; no gradient flows through them. By default 1/q everywhere, as the method starts.
    beta : float
        β, the weight of the excluded classes.
    psi : {"sigmoid", "cross-entropy"}
        The loss of a class.
    confirmed : Tensor of int, shape (n,), optional
        The true class of rows where it is known, −1 elsewhere; it is then the only candidate.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.LWS : The method for `ScarceClassifier`, which updates the weights.

    References
    ----------
    .. [1] H. Wen, J. Cui, H. Hang, J. Liu, Y. Wang and Z. Lin, "Leveraged Weighted Loss for Partial Label Learning",
       ICML 2021. https://arxiv.org/abs/2106.05731

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import lws_loss
    >>> lws_loss(torch.zeros(1, 2), torch.tensor([[False, True]]), weights=torch.ones(1, 2), beta=2.0).item()
    1.5
    """
    check_number("beta", beta)
    check_option("psi", psi, ("sigmoid", "cross-entropy"))
    logits, excluded = check_rows(logits, excluded)
    candidates = candidate_mask(excluded, check_confirmed(confirmed, logits))
    if weights is None:
        weights = torch.full_like(logits, 1 / logits.shape[1])
    return lws_losses(logits, as_row_weights("weights", weights, logits), candidates, beta, psi).mean()
