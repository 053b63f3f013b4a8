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
    """−mean log Σ_{j ∈ S} p_j with the candidates S of each row, the classes that are not excluded [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row that excludes no class contributes 0 to the mean.
    confirmed : Tensor of int, shape (n,), optional
        The true class of each row, −1 where it is unknown; a known class is the only candidate.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.ClassifierConsistent : The method for `ScarceClassifier`.
    scarce.functional.rc_loss : The cross-entropy with a confidence for every candidate.
    scarce.functional.negative_learning_loss : The same loss for one excluded class per row.

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
    """−mean Σ_j C_ij log p_ij, where C_i is the confidence of row i in each of its candidates.

    RC [1]_, PRODEN [2]_, POP and CAVL share this loss and differ in how they update C after a step. PRODEN sets C_i to p_i,
    restricted to the candidates and normalized; RC does the same with a second forward pass. POP also removes unlikely candidates,
    and CAVL puts all confidence on one candidate.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; all other classes are candidates.
    confidence : Tensor of shape (n, q), optional
        C of the rows of this batch, 0 for excluded classes; no gradient flows through it. By default, all candidates have
        equal confidence, which is how these methods start.
    confirmed : Tensor of int, shape (n,), optional
        The true class of each row, −1 where it is unknown; a known class is the only candidate.

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
    PRODEN stores the confidence of all rows, and updates that of the batch after every step:

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
                "confidence is above 0 for a class that is excluded, or that differs from the confirmed class; expected 0: set the "
                "confidence of these classes to 0."
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
    """Mean Σ_{j ∈ S} w_j ψ(f_j) + β Σ_{j ∉ S} w_j ψ̄(f_j), where S are the candidates and w the weights of all classes.

    ψ(f_j) = σ(−f_j) and ψ̄(f_j) = σ(f_j); for ``cross-entropy`` they are −log p_j and −log(1 − p_j). After every step, LWS [1]_
    sets w to p, normalized to sum to one over the candidates and to one over the excluded classes.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; all other classes are candidates.
    weights : Tensor of shape (n, q), optional
        w of the rows of this batch; no gradient flows through it. By default 1/q, which is how LWS starts.
    beta : float
        β, the weight of the excluded classes.
    psi : {"sigmoid", "cross-entropy"}
        The losses ψ and ψ̄.
    confirmed : Tensor of int, shape (n,), optional
        The true class of each row, −1 where it is unknown; a known class is the only candidate.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.LWS : The method for `ScarceClassifier`, which updates the weights.
    scarce.functional.rc_loss : Weights the candidates alone.

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
