"""Losses for one excluded class, averaged over all pairs of a row of the batch and a class that it excludes."""

from functools import partial

from torch import Tensor

from scarce._validation import check_flag
from scarce.functional._arguments import Numbers, as_log_transition, check_rows
from scarce.methods import cpe, discriminative, forward, order_preserving, surrogate
from scarce.methods.single_label import mean_over_pairs


def discriminative_loss(logits: Tensor, excluded: Tensor, *, weighted: bool = False) -> Tensor:
    """Mean −log softmax(1 − p)_k over all pairs of a row and a class k that it excludes [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    weighted : bool
        Whether to multiply the loss of each pair by 1 + (1 − p_k)/(q − 1): L-W instead of L-UW.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.DiscriminativeUnweighted, scarce.methods.DiscriminativeWeighted : The methods for `ScarceClassifier`.

    References
    ----------
    .. [1] Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss", ICML 2021.
       https://proceedings.mlr.press/v139/gao21d.html

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import discriminative_loss
    >>> round(discriminative_loss(torch.zeros(1, 3), torch.tensor([[True, False, False]])).item(), 4)
    1.0986
    """
    check_flag("weighted", weighted)
    logits, excluded = check_rows(logits, excluded)
    losses = partial(discriminative.discriminative_losses, weighted=weighted)
    return mean_over_pairs(losses, logits, excluded)


def order_preserving_loss(logits: Tensor, excluded: Tensor, *, weighted: bool = False) -> Tensor:
    """Mean −log softmax(−f)_k over all pairs of a row and a class k that it excludes [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    weighted : bool
        Whether to multiply the loss of each pair by w_k, with w = p ⊙ softmax(1/softmax(−f)) + 10⁻⁶ and p = softmax(f): OP-W
        instead of OP. The weight nearly vanishes unless the excluded class is the one with the largest logit.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.OrderPreserving, scarce.methods.OrderPreservingWeighted : The methods for `ScarceClassifier`.

    References
    ----------
    .. [1] S. Liu, Y. Cao, Q. Zhang, L. Feng and B. An, "Consistent Complementary-Label Learning via Order-Preserving
       Losses", AISTATS 2023. https://proceedings.mlr.press/v206/liu23g.html

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import order_preserving_loss
    >>> round(order_preserving_loss(torch.zeros(1, 4), torch.tensor([[0, 1, 0, 0]])).item(), 4)
    1.3863
    """
    check_flag("weighted", weighted)
    logits, excluded = check_rows(logits, excluded)
    losses = (
        order_preserving.weighted_order_preserving_losses
        if weighted
        else order_preserving.order_preserving_losses
    )
    return mean_over_pairs(losses, logits, excluded)


def forward_loss(logits: Tensor, excluded: Tensor, *, transition: Numbers) -> Tensor:
    """Mean −log Σ_j p_j T_jk over all pairs of a row and a class k that it excludes [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    transition : Tensor or array of shape (q, q)
        T[y, k] = P(k is excluded | class y), such as `scarce.simulate.uniform_transition`. If T requires a gradient, it is
        trained with the model.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.Forward : The method for `ScarceClassifier`.
    scarce.functional.single_label_nll : The same likelihood, averaged over rows; takes confirmed classes.

    References
    ----------
    .. [1] X. Yu, T. Liu, M. Gong and D. Tao, "Learning with Biased Complementary Labels", ECCV 2018.
       https://arxiv.org/abs/1711.09535

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import forward_loss
    >>> from scarce.simulate import uniform_transition
    >>> excluded = torch.tensor([[False, True, False]])
    >>> round(forward_loss(torch.zeros(1, 3), excluded, transition=uniform_transition(3)).item(), 4)
    1.0986
    """
    logits, excluded = check_rows(logits, excluded)
    log_transition = as_log_transition(transition, logits)
    losses = partial(forward.forward_losses, log_transition=log_transition)
    return mean_over_pairs(losses, logits, excluded)


def negative_learning_loss(logits: Tensor, excluded: Tensor) -> Tensor:
    """Mean −log(1 − p_k) over all pairs of a row and a class k that it excludes (SCL-NL [1]_), known as negative learning [2]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.SurrogateNegativeLearning : The method for `ScarceClassifier`.
    scarce.functional.cc_loss : The extension to several labels; the same loss if a row excludes one class.

    References
    ----------
    .. [1] Y.-T. Chou, G. Niu, H.-T. Lin and M. Sugiyama, "Unbiased Risk Estimators Can Mislead: A Case Study of Learning
       with Complementary Labels", ICML 2020. https://arxiv.org/abs/2007.02235
    .. [2] Y. Kim, J. Yim, J. Yun and J. Kim, "NLNL: Negative Learning for Noisy Labels", ICCV 2019.
       https://arxiv.org/abs/1908.07387

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import negative_learning_loss
    >>> round(negative_learning_loss(torch.zeros(1, 4), torch.tensor([[0, 1, 0, 0]])).item(), 4)
    0.2877
    """
    logits, excluded = check_rows(logits, excluded)
    return mean_over_pairs(surrogate.negative_learning_losses, logits, excluded)


def exponential_surrogate_loss(logits: Tensor, excluded: Tensor) -> Tensor:
    """Mean e^{p_k} over all pairs of a row and a class k that it excludes (SCL-EXP [1]_).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.SurrogateExponential : The method for `ScarceClassifier`.
    scarce.functional.negative_learning_loss : The other surrogate of the same paper, which is unbounded.

    References
    ----------
    .. [1] Y.-T. Chou, G. Niu, H.-T. Lin and M. Sugiyama, "Unbiased Risk Estimators Can Mislead: A Case Study of Learning
       with Complementary Labels", ICML 2020. https://arxiv.org/abs/2007.02235

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import exponential_surrogate_loss
    >>> round(exponential_surrogate_loss(torch.zeros(1, 4), torch.tensor([[0, 1, 0, 0]])).item(), 4)
    1.284
    """
    logits, excluded = check_rows(logits, excluded)
    return mean_over_pairs(surrogate.exponential_surrogate_losses, logits, excluded)


def cpe_loss(logits: Tensor, excluded: Tensor, *, transition: Numbers | None = None) -> Tensor:
    """Mean −log p̄_k over all pairs of a row and a class k that it excludes, where p̄ = p T, or p̄ = p without T [1]_.

    p̄ estimates the distribution of the excluded class. Predict the class y whose row T_y is nearest to p̄ in L1 distance, not the
    one with the largest logit.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row with several exclusions counts once for each; a row without any is ignored.
    transition : Tensor or array of shape (q, q), optional
        T[y, k] = P(k is excluded | class y). A fixed matrix gives CPE-F, ``W.softmax(dim=1)`` of a trained W gives CPE-T, and
        None gives CPE-I (p̄ = p).

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.CPEIdentity, scarce.methods.CPEFixedTransition, scarce.methods.CPETrainedTransition : The methods for
        `ScarceClassifier`, which also predict.

    References
    ----------
    .. [1] W.-I. Lin and H.-T. Lin, "Reduction from Complementary-Label Learning to Probability Estimates", PAKDD 2023.
       https://arxiv.org/abs/2209.09500

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import cpe_loss
    >>> W = torch.zeros(3, 3, requires_grad=True)
    >>> loss = cpe_loss(torch.zeros(1, 3), torch.tensor([[0, 1, 0]]), transition=W.softmax(dim=1))
    >>> round(loss.item(), 4)
    1.0986
    """
    if transition is not None:
        return forward_loss(logits, excluded, transition=transition)
    logits, excluded = check_rows(logits, excluded)
    return mean_over_pairs(cpe.excluded_class_losses, logits, excluded)
