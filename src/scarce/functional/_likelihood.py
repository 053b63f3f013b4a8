"""Negative log-likelihoods −mean log Σ_y p_y P(labels of the row | y), of exclusions and of answers."""

import torch
from torch import Tensor

from scarce import risk
from scarce._validation import check_flag
from scarce.functional._arguments import (
    Numbers,
    as_log_transition,
    as_priors,
    as_probabilities,
    as_rates,
    check_asked,
    check_confirmed,
    check_one_per_row,
    check_rows,
)
from scarce.methods._labeling import was_labeled
from scarce.methods.least_excluded import exclusion_losses


def scar_nll(
    logits: Tensor,
    excluded: Tensor,
    *,
    priors: Numbers,
    rates: Numbers,
    error_rate: Numbers | float = 0.0,
    single_label: bool = False,
    confirmed: Tensor | None = None,
) -> Tensor:
    """−mean log Σ_y p_y r_y(ȳ_y), the negative log-likelihood of exclusions under SCAR, up to a constant per row.

    r_y(1) = ρ_y / c_y if the row excludes y, and r_y(0) = (1 − ρ_y) / (1 − c_y) if not. c_k = (π̄_k − ρ_k π_k) / (1 − π_k) is the
    probability that a row of another class excludes k. Unlike an unbiased risk, this is bounded below and needs no correction.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.
    priors : Tensor or array of shape (q,)
        Class priors π.
    rates : Tensor or array of shape (q,)
        π̄, the fraction of the training rows that exclude each class (`ComplementaryLabels.rates`). Do not count rows that were
        not labeled: those without an exclusion if `single_label`, otherwise those with only an ordinary label.
    error_rate : float, Tensor or array of shape (q,)
        ρ, the probability that a row excludes its own class.
    single_label : bool
        Whether every labeled row excludes exactly one class by design. The likelihood is then conditional on that, and rows
        without an exclusion contribute 0.
    confirmed : Tensor of int, shape (n,), optional
        The true class y of each row, −1 where it is unknown; the loss of a row with a known class is −log p_y.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.ScarLikelihood : The method for `ScarceClassifier`, which can also learn the priors and the error rate.
    scarce.functional.class_conditional_nll : The likelihood if exclusions depend on the true class.
    scarce.functional.scarce_risk : The unbiased risk under the same assumption.

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import scar_nll
    >>> excluded = torch.tensor([[True, False], [False, False]])
    >>> round(scar_nll(torch.zeros(2, 2), excluded, priors=[0.5, 0.5], rates=[0.25, 0.25]).item(), 4)
    -0.3466
    """
    check_flag("single_label", single_label)
    logits, excluded = check_rows(logits, excluded)
    pi, pibar = as_priors(priors, logits), as_rates(rates, logits)
    rho = as_probabilities("error_rate", error_rate, pi.shape, logits, "pass one number, or one per class")
    if single_label:
        check_one_per_row(excluded, "single_label=False")
        ratios = risk.single_label_ratios(risk.single_label_weights(pibar / pibar.sum(), pi, rho), rho)
    else:
        ratios = risk.scar_ratios(risk.exclusion_probabilities(pibar, pi, rho), rho)
    log_likelihood = risk.scar_log_likelihood(excluded, ratios)
    if single_label:
        log_likelihood = log_likelihood * (excluded > 0).any(dim=1, keepdim=True)
    return _mean_nll(logits, log_likelihood, confirmed)


def class_conditional_nll(
    logits: Tensor, excluded: Tensor, *, exclusion_matrix: Numbers, confirmed: Tensor | None = None
) -> Tensor:
    """−mean log Σ_y p_y Π_k C[y, k]^ȳ_k (1 − C[y, k])^(1 − ȳ_k), with C[y, k] = P(k is excluded | class y).

    The negative log-likelihood of exclusions that depend on the true class and are independent given that class.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. A row may exclude zero to q − 1 classes.
    exclusion_matrix : Tensor or array of shape (q, q)
        C, one row per true class y; the diagonal holds the error rates.
    confirmed : Tensor of int, shape (n,), optional
        The true class y of each row, −1 where it is unknown; the loss of a row with a known class is −log p_y.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.Refine : The method for `ScarceClassifier`, which estimates C.
    scarce.risk.estimate_exclusion_matrix : Estimates C from predicted classes.
    scarce.functional.single_label_nll : The likelihood of exactly one exclusion per row.

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import class_conditional_nll
    >>> C = [[0.0, 0.5], [0.25, 0.0]]
    >>> round(class_conditional_nll(torch.zeros(1, 2), torch.tensor([[False, True]]), exclusion_matrix=C).item(), 4)
    1.3863
    """
    logits, excluded = check_rows(logits, excluded)
    q = logits.shape[1]
    matrix = as_probabilities(
        "exclusion_matrix", exclusion_matrix, (q, q), logits, "one row per true class, one column per class"
    )
    return _mean_nll(logits, risk.class_conditional_log_likelihood(excluded, matrix), confirmed)


def single_label_nll(
    logits: Tensor, excluded: Tensor, *, transition: Numbers, confirmed: Tensor | None = None
) -> Tensor:
    """−mean log Σ_y p_y T[y, k], where k is the one class that the row excludes.

    The negative log-likelihood of the forward correction [1]_. A row without an exclusion contributes 0 to the mean, unless its
    class is confirmed.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded; at most one per row.
    transition : Tensor or array of shape (q, q)
        T[y, k] = P(k is excluded | class y). If T requires a gradient, it is trained with the model.
    confirmed : Tensor of int, shape (n,), optional
        The true class y of each row, −1 where it is unknown; the loss of a row with a known class is −log p_y.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.Refine : The method for `ScarceClassifier`, which estimates T.
    scarce.functional.forward_loss : The mean over exclusions instead of rows.
    scarce.functional.class_conditional_nll : The likelihood of zero or more exclusions per row.

    References
    ----------
    .. [1] X. Yu, T. Liu, M. Gong and D. Tao, "Learning with Biased Complementary Labels", ECCV 2018.
       https://arxiv.org/abs/1711.09535

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import single_label_nll
    >>> T, excluded = [[0.0, 1.0], [1.0, 0.0]], torch.tensor([[False, True]])
    >>> round(single_label_nll(torch.zeros(1, 2), excluded, transition=T).item(), 4)
    0.6931
    """
    logits, excluded = check_rows(logits, excluded)
    check_one_per_row(excluded, "class_conditional_nll")
    return _mean_nll(logits, excluded @ as_log_transition(transition, logits).T, confirmed)


def answers_nll(
    logits: Tensor,
    excluded: Tensor,
    *,
    asked: Tensor,
    false_negative_rate: Numbers | float = 0.0,
    false_positive_rate: Numbers | float = 0.0,
    confirmed: Tensor | None = None,
) -> Tensor:
    """−mean log Σ_y p_y Π_{asked k} P(answer_k | y), for answers to "is it class k?".

    The answer about class k is "no" where k is excluded, and "yes" where k was asked about and is not excluded.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        True or 1 where the answer was "no".
    asked : Tensor of shape (n, q)
        True or 1 where there is an answer, "yes" or "no".
    false_negative_rate, false_positive_rate : float, Tensor or array that broadcasts to shape (n, q)
        P("no" | it is the class) and P("yes" | it is not): one number, one per row (n, 1), or one per answer (n, q), such as
        the rate of the annotator who gave it.
    confirmed : Tensor of int, shape (n,), optional
        The true class y of each row, −1 where it is unknown; the loss of a row without answers is −log p_y. Ignored for rows
        with answers.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.AnswersLikelihood : The method for `ScarceClassifier`, which learns the rates of every annotator and accepts
        several answers to one question.

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import answers_nll
    >>> asked, excluded = torch.tensor([[True, True, False]]), torch.tensor([[True, False, False]])
    >>> round(answers_nll(torch.zeros(1, 3), excluded, asked=asked).item(), 4)  # "not the first", "the second"
    1.0986
    """
    logits, excluded = check_rows(logits, excluded)
    is_asked = check_asked(asked, excluded)
    row, k = is_asked.nonzero(as_tuple=True)
    fix = "pass one number, or one per row (n, 1) or answer (n, q)"
    rates = (
        as_probabilities(name, rate, tuple(logits.shape), logits, fix)[row, k]
        for name, rate in (
            ("false_negative_rate", false_negative_rate),
            ("false_positive_rate", false_positive_rate),
        )
    )
    yes = excluded[row, k] == 0
    log_likelihood, constant = risk.answer_log_likelihood((len(logits), logits.shape[1]), row, k, yes, *rates)
    known = check_confirmed(confirmed, logits)
    if known is not None:
        known = torch.where(is_asked.any(dim=1), -1, known)
        log_likelihood = risk.clamp_confirmed(log_likelihood, known)
    return (risk.marginal_nll(logits, log_likelihood) - constant).mean()


def least_excluded_nll(
    logits: Tensor, excluded: Tensor, *, single_label: bool = False, confirmed: Tensor | None = None
) -> Tensor:
    """Mean Σ_k BCE(σ(f_k), ȳ_k), or with `single_label` −mean log softmax(f)_k, where k is the excluded class.

    The model learns which classes are excluded: g_k(x) = P(k is excluded | x), with g = σ(f), or g = softmax(f) with
    `single_label`. Predict the class with the lowest g_k / π̄_k, not the one with the largest logit.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded.
    single_label : bool
        Whether every labeled row excludes exactly one class by design; rows without an exclusion then contribute 0.
    confirmed : Tensor of int, shape (n,), optional
        The true class of each row, −1 where it is unknown; rows with a known class and no exclusion contribute 0.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.LeastExcluded : The method for `ScarceClassifier`, which also predicts.
    scarce.functional.elkan_noto_loss : The same cross-entropy, with logits of the opposite sign.

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import least_excluded_nll
    >>> round(least_excluded_nll(torch.zeros(1, 2), torch.tensor([[False, True]])).item(), 4)
    1.3863
    """
    check_flag("single_label", single_label)
    logits, excluded = check_rows(logits, excluded)
    if single_label:
        check_one_per_row(excluded, "single_label=False")
    labeled = was_labeled(excluded, check_confirmed(confirmed, logits), single_label)
    return (exclusion_losses(logits, excluded, single_label) * labeled).mean()


def _mean_nll(logits: Tensor, log_likelihood: Tensor, confirmed: Tensor | None) -> Tensor:
    log_likelihood = risk.clamp_confirmed(log_likelihood, check_confirmed(confirmed, logits))
    return risk.marginal_nll(logits, log_likelihood).mean()
