"""Positive-unlabeled (PU) losses: one PU problem "not k" per class k, with score g_k = −f_k; rows that exclude k are positives.

The losses are summed over the classes that some row of the batch excludes, except in `elkan_noto_loss`, which sums over all.
"""

from torch import Tensor

from scarce._validation import check_number
from scarce.errors import MethodError
from scarce.functional._arguments import Numbers, as_priors, as_rates, as_row_weights, check_rows
from scarce.methods.meta.dist_pu import dist_pu_losses
from scarce.methods.meta.elkan_noto import elkan_noto_losses
from scarce.methods.meta.nnpu import nnpu_losses
from scarce.methods.meta.upu import pu_risks
from scarce.methods.meta.vpu import vpu_losses
from scarce.risk._mixture_proportion import Unlabeled, mixture_proportion
from scarce.risk.binary_losses import balanced_logistic_losses


def upu_risk(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    loss: str = "logistic",
    unlabeled: Unlabeled = "all",
    rates: Numbers | None = None,
) -> Tensor:
    """Σ_k (θ_k mean_P ℓ(g_k) + mean_U ℓ(−g_k) − θ_k mean_P ℓ(−g_k)), the unbiased positive-unlabeled (uPU) risk [1]_ with g = −f.

    P are the rows that exclude k, U are the unlabeled rows, and θ_k is the fraction of U that does not belong to class k. The risk
    is unbounded below, so flexible models overfit.

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
    unlabeled : {"all", "rest"}
        U: ``all`` rows, with θ_k = 1 − π_k, or the ``rest``, the rows that do not exclude k, with
        θ_k = 1 − π_k / (1 − π̄_k).
    rates : Tensor or array of shape (q,), optional
        π̄, the fraction of all training rows that exclude each class; required for ``rest``.

    Returns
    -------
    Tensor
        The risk, a scalar.

    See Also
    --------
    scarce.methods.meta.MetaUPU : The method for `ScarceClassifier`.
    scarce.functional.nnpu_risk, scarce.functional.scarce_risk : The same with a correction.

    References
    ----------
    .. [1] M. C. du Plessis, G. Niu and M. Sugiyama, "Convex Formulation for Learning from Positive and Unlabeled Data",
       ICML 2015. https://proceedings.mlr.press/v37/plessis15.html

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import upu_risk
    >>> excluded = torch.tensor([[False, True], [True, False]])
    >>> round(upu_risk(torch.zeros(2, 2), excluded, priors=[0.5, 0.5]).item(), 4)
    1.3863
    """
    logits, excluded = check_rows(logits, excluded)
    proportion = _proportion(priors, rates, unlabeled, logits)
    return _over_present(
        pu_risks(-logits, excluded, proportion, loss=loss, unlabeled=unlabeled).total, excluded
    )


def nnpu_risk(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    loss: str = "logistic",
    beta: float = 0.0,
    gamma: float = 1.0,
    unlabeled: Unlabeled = "all",
    rates: Numbers | None = None,
) -> Tensor:
    """Σ_k L_k with L_k = r⁺_k + r⁻_k if r⁻_k ≥ −β, else −γ r⁻_k: the non-negative positive-unlabeled (nnPU) risk [1]_.

    r⁺_k = θ_k mean_P ℓ(g_k) and r⁻_k = mean_U ℓ(−g_k) − θ_k mean_P ℓ(−g_k) are the two parts of `upu_risk`, with g = −f. Where
    r⁻_k is too low, the step is gradient ascent on r⁻_k.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.
    priors, loss, unlabeled, rates
        As in `upu_risk`.
    beta, gamma : float
        β, how far below zero r⁻_k may fall, and γ, the rate of the ascent.

    Returns
    -------
    Tensor
        The value to minimize, a scalar. During ascent, it is not the risk.

    See Also
    --------
    scarce.methods.meta.MetaNNPU, scarce.methods.meta.MetaPUSB : The methods for `ScarceClassifier`. PUSB has the same loss, and
        subtracts a threshold from every score before it predicts.
    scarce.functional.upu_risk : The same without a correction.

    References
    ----------
    .. [1] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "Positive-Unlabeled Learning with Non-Negative Risk
       Estimator", NeurIPS 2017. https://arxiv.org/abs/1703.00593

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import nnpu_risk
    >>> excluded = torch.tensor([[False, True], [True, False]])
    >>> round(nnpu_risk(torch.zeros(2, 2), excluded, priors=[0.5, 0.5]).item(), 4)
    1.3863
    """
    check_number("beta", beta)
    check_number("gamma", gamma)
    logits, excluded = check_rows(logits, excluded)
    proportion = _proportion(priors, rates, unlabeled, logits)
    losses = nnpu_losses(
        -logits, excluded, proportion, loss=loss, beta=beta, gamma=gamma, unlabeled=unlabeled
    )
    return _over_present(losses, excluded)


def vpu_loss(logits: Tensor, excluded: Tensor, *, unlabeled: Unlabeled = "all") -> Tensor:
    """Σ_k (log mean_U Φ_k − mean_P log Φ_k) with Φ = σ(−f), the variational positive-unlabeled (VPU) loss [1]_.

    It needs no priors. Φ_k estimates P(y ≠ k | x) up to a factor. Predict the class with the lowest Φ_k / max Φ_k, where the
    maximum is over the training rows.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; the rows that exclude k are its positives P. A row may exclude zero to q − 1
        classes.
    unlabeled : {"all", "rest"}
        U: ``all`` rows, or the ``rest``, the rows that do not exclude k.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.meta.MetaVPU : The method for `ScarceClassifier`, which rescales Φ and can add mixup.

    References
    ----------
    .. [1] H. Chen, F. Liu, Y. Wang, L. Zhao and H. Wu, "A Variational Approach for Learning from Positive and Unlabeled
       Data", NeurIPS 2020. https://arxiv.org/abs/1906.00642

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import vpu_loss
    >>> vpu_loss(torch.zeros(2, 2), torch.tensor([[False, True], [True, False]])).item()
    0.0
    """
    logits, excluded = check_rows(logits, excluded)
    return _over_present(vpu_losses(-logits, excluded, unlabeled=unlabeled), excluded)


def dist_pu_loss(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    weight: float | None = 2.0,
    mu: float = 0.002,
    unlabeled: Unlabeled = "all",
    rates: Numbers | None = None,
) -> Tensor:
    """Σ_k (|m_P − 1| + w |m_U − θ_k| + μ mean_U H(σ(g_k))), where m_P and m_U are the means of σ(g_k) over P and U, g = −f.

    P, U and θ are those of `upu_risk`. This is the loss during the warm-up of Dist-PU [1]_; its second phase trains on mixtures of
    rows, so it needs the model.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; the rows that exclude k are its positives P. A row may exclude zero to q − 1
        classes.
    priors, unlabeled, rates
        As in `upu_risk`.
    weight : float or None
        w. None means 1 / (2 θ_k), as published; with many classes this is below 1, and training drifts to "not k" for every row.
    mu : float
        μ, the weight of the entropy H.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.meta.MetaDistPU : The method for `ScarceClassifier`, with both phases.

    References
    ----------
    .. [1] Y. Zhao, Q. Xu, Y. Jiang, P. Wen and Q. Huang, "Dist-PU: Positive-Unlabeled Learning from a Label Distribution
       Perspective", CVPR 2022. https://arxiv.org/abs/2212.02801

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import dist_pu_loss
    >>> excluded = torch.tensor([[False, True], [True, False]])
    >>> round(dist_pu_loss(torch.zeros(2, 2), excluded, priors=[0.5, 0.5], mu=0.0).item(), 4)
    1.0
    """
    if weight is not None:
        check_number("weight", weight)
    check_number("mu", mu)
    logits, excluded = check_rows(logits, excluded)
    proportion = _proportion(priors, rates, unlabeled, logits)
    losses = dist_pu_losses(-logits, excluded, proportion, mu=mu, weight=weight, unlabeled=unlabeled)
    return _over_present(losses, excluded)


def cvir_loss(logits: Tensor, excluded: Tensor, *, kept: Tensor | None = None) -> Tensor:
    """Σ_k (½ mean_P ℓ(g_k) + ½ mean_kept ℓ(−g_k)), with the logistic loss ℓ and g = −f.

    P are the rows that exclude k, and the kept rows are the negatives of "not k". CVIR [1]_ starts with all rows; after every
    epoch, it drops the fraction θ_k of rows with the highest g_k. Predict the class with the largest f_k + log(π_k / (1 − π_k)).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; the rows that exclude k are its positives P. A row may exclude zero to q − 1
        classes.
    kept : Tensor of shape (n, q), optional
        True or 1 where a row is kept as a negative of "not k"; by default, all rows are kept.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.meta.MetaCVIR, scarce.methods.meta.MetaTEDn : The methods for `ScarceClassifier`, which rank the rows.
        TEDn also estimates θ.

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan and Z. C. Lipton, "Mixture Proportion Estimation and PU Learning:
       A Modern Approach", NeurIPS 2021. https://arxiv.org/abs/2111.00980

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import cvir_loss
    >>> round(cvir_loss(torch.zeros(2, 2), torch.tensor([[False, True], [True, False]])).item(), 4)
    1.3863
    """
    logits, excluded = check_rows(logits, excluded)
    rows = excluded.new_ones(excluded.shape) if kept is None else as_row_weights("kept", kept, logits)
    return _over_present(balanced_logistic_losses(-logits, excluded, rows), excluded)


def elkan_noto_loss(logits: Tensor, excluded: Tensor) -> Tensor:
    """Σ_k mean BCE(σ(g_k), ȳ_k) with g = −f, over all classes.

    σ(g_k) estimates P(k is excluded | x) = c_k P(y ≠ k | x). Predict the class with the lowest σ(g_k) / c_k [1]_. Compute c_k as
    π̄_k / (1 − π_k), or estimate it as the mean of σ(g_k) over held-out rows that exclude k.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.meta.MetaElkanNoto : The method for `ScarceClassifier`, which estimates c.
    scarce.functional.least_excluded_nll : The same cross-entropy, with logits of the opposite sign.

    References
    ----------
    .. [1] C. Elkan and K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD 2008.
       https://doi.org/10.1145/1401890.1401920

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import elkan_noto_loss
    >>> round(elkan_noto_loss(torch.zeros(2, 2), torch.tensor([[False, True], [True, False]])).item(), 4)
    1.3863
    """
    logits, excluded = check_rows(logits, excluded)
    return elkan_noto_losses(-logits, excluded).sum()


def _proportion(priors: Numbers, rates: Numbers | None, unlabeled: Unlabeled, logits: Tensor) -> Tensor:
    pi = as_priors(priors, logits)
    if unlabeled == "rest" and rates is None:
        raise MethodError("unlabeled='rest' needs the rates of all training rows; pass rates=labels.rates.")
    return mixture_proportion(pi, pi if rates is None else as_rates(rates, logits), unlabeled)


def _over_present(losses: Tensor, excluded: Tensor) -> Tensor:
    """Return the sum over the classes that some row excludes; without positives, nothing balances the unlabeled rows."""
    return (losses * (excluded.sum(dim=0) > 0)).sum()
