"""Unbiased risks for one complementary label per example, drawn uniformly from the wrong classes."""

from functools import partial
from typing import Literal

from torch import Tensor
from torch.nn.functional import log_softmax

from scarce._validation import check_number
from scarce.functional._arguments import Numbers, as_rates, check_rows
from scarce.methods import ure
from scarce.methods.pc import Variant, pairwise_comparison_losses
from scarce.methods.single_label import mean_over_pairs


def pc_loss(logits: Tensor, excluded: Tensor, *, variant: Variant = "unbiased") -> Tensor:
    """(q − 1) mean Σ_{j ≠ k} σ(f_k − f_j) − (q − 1)(q − 2)/2 over all pairs of a row and a class k that it excludes.

    Pairwise comparison (PC) [1]_, with the sigmoid σ. If the excluded class is drawn uniformly from the wrong classes, this is an
    unbiased estimate of the ordinary risk Σ_{j ≠ y} σ(f_j − f_y).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    variant : {"unbiased", "official", "plain"}
        ``official`` adds (q − 1)/2, like the authors' code; ``plain`` is mean Σ_{j ≠ k} σ(f_k − f_j).

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.PairwiseComparison : The method for `ScarceClassifier`.

    References
    ----------
    .. [1] T. Ishida, G. Niu, W. Hu and M. Sugiyama, "Learning from Complementary Labels", NeurIPS 2017.
       https://arxiv.org/abs/1705.07541

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import pc_loss
    >>> pc_loss(torch.zeros(1, 3), torch.tensor([[False, False, True]])).item()
    1.0
    """
    logits, excluded = check_rows(logits, excluded)
    return mean_over_pairs(partial(pairwise_comparison_losses, variant=variant), logits, excluded)


def free_risk(logits: Tensor, excluded: Tensor, *, rates: Numbers) -> Tensor:
    """Σ_j V_j with V_j = Σ_g π̄_g m_gj − (q − 1) π̄_j m_jj: the unbiased risk estimator (URE) [1]_ without correction.

    m_gj is the mean of the cross-entropy −log p_j over the rows that exclude class g, and V_j estimates the risk of class j,
    π_j E[−log p_j | y = j]. The estimate is unbiased if the excluded class is drawn uniformly from the wrong classes. It is
    unbounded below, so flexible models overfit.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    rates : Tensor or array of shape (q,)
        The fraction of all training rows that exclude each class (`ComplementaryLabels.rates`). π̄ is `rates` divided by its
        sum.

    Returns
    -------
    Tensor
        The risk, a scalar.

    See Also
    --------
    scarce.methods.UncorrectedRisk : The method for `ScarceClassifier`.
    scarce.functional.nn_risk, scarce.functional.ga_risk : The same with a correction.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import free_risk
    >>> round(free_risk(torch.zeros(2, 2), torch.eye(2), rates=[0.5, 0.5]).item(), 4)
    0.6931
    """
    return _class_risks(logits, excluded, rates).sum()


def nn_risk(logits: Tensor, excluded: Tensor, *, rates: Numbers, beta: float = 0.0) -> Tensor:
    """Σ_j max(V_j, −β), with the class risks V_j of `free_risk`: the non-negative (NN) correction [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    rates : Tensor or array of shape (q,)
        The fraction of all training rows that exclude each class (`ComplementaryLabels.rates`).
    beta : float
        β, how far below zero the risk of a class may fall.

    Returns
    -------
    Tensor
        The risk, a scalar.

    See Also
    --------
    scarce.methods.NonNegativeRisk : The method for `ScarceClassifier`.
    scarce.functional.free_risk : The same without a correction.
    scarce.functional.ga_risk : The same with gradient ascent.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import nn_risk
    >>> logits = torch.tensor([[-3.0, 3.0], [3.0, -3.0]])
    >>> round(nn_risk(logits, torch.eye(2), rates=[0.5, 0.5]).item(), 4)
    0.0025
    """
    check_number("beta", beta)
    return ure.non_negative_risk(_class_risks(logits, excluded, rates), beta)


def ga_risk(
    logits: Tensor,
    excluded: Tensor,
    *,
    rates: Numbers,
    ascent: Literal["counted", "plain"] = "counted",
    beta: float = 0.0,
    gamma: float = 1.0,
) -> Tensor:
    """Σ_j V_j if every W_j ≥ −β, else −γ Σ_j min(W_j + β, 0): the gradient ascent (GA) correction [1]_.

    V_j are the class risks of `free_risk`, and W_j is V_j or a multiple of it. If any class violates W_j ≥ −β, a descent
    step on the second expression is an ascent step on V_j of those classes alone.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    rates : Tensor or array of shape (q,)
        The fraction of all training rows that exclude each class (`ComplementaryLabels.rates`).
    ascent : {"counted", "plain"}
        ``counted``: W_j = n_j V_j, where n_j rows of the batch exclude j, as in the authors' code. ``plain``: W_j = V_j, as in
        their paper.
    beta, gamma : float
        β and γ, the threshold and the weight of the ascent.

    Returns
    -------
    Tensor
        The value to minimize, a scalar. During ascent, it is not the risk.

    See Also
    --------
    scarce.methods.GradientAscentRisk : The method for `ScarceClassifier`.
    scarce.functional.free_risk : The same without a correction.
    scarce.functional.nn_risk : The same, bounded below.

    References
    ----------
    .. [1] T. Ishida, G. Niu, A. K. Menon and M. Sugiyama, "Complementary-Label Learning for Arbitrary Losses and Models",
       ICML 2019. https://arxiv.org/abs/1810.04327

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import ga_risk
    >>> round(ga_risk(torch.zeros(2, 2), torch.eye(2), rates=[0.5, 0.5]).item(), 4)
    0.6931
    """
    check_number("beta", beta)
    check_number("gamma", gamma)
    risks = _class_risks(logits, excluded, rates)
    counts = excluded.to(logits).sum(dim=0)
    return ure.ascent_risk(risks, counts, ascent=ascent, beta=beta, gamma=gamma)


def _class_risks(logits: Tensor, excluded: Tensor, rates: Numbers) -> Tensor:
    logits, excluded = check_rows(logits, excluded)
    values = as_rates(rates, logits)
    return ure.ordinary_class_risks(-log_softmax(logits, dim=1), excluded, values / values.sum())
