"""Criteria from the literature for choosing a model without true labels, and a registry that adds accuracy and risk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from scarce._validation import check_option, check_transition
from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels
from scarce.metrics._blocks import iter_blocks, predicted_codes
from scarce.metrics.accuracy import complementary_accuracy
from scarce.metrics.risk import complementary_risk

_TINY = np.finfo(float).tiny


def covering_rate(predicted: Any, labels: ComplementaryLabels) -> float:
    """1 − mean ȳ_ŷ, the fraction of examples whose predicted class ŷ is not excluded [1]_.

    Parameters
    ----------
    predicted : array of shape (n,)
        Predicted class names.
    labels : ComplementaryLabels
        Labels of the same examples.

    Returns
    -------
    float
        From 0 to 1; higher is better.

    See Also
    --------
    complementary_accuracy : An unbiased estimate of the accuracy under SCAR.

    References
    ----------
    .. [1] W. Wang, D.-D. Wu, J. Wang, G. Niu, M.-L. Zhang and M. Sugiyama, "Realistic Evaluation of Deep Partial-Label
       Learning Algorithms", ICLR 2025. https://arxiv.org/abs/2502.10184

    Examples
    --------
    >>> covering_rate([0, 1], ComplementaryLabels.from_single([0, 0], classes=3))
    0.5
    """
    excluded = np.repeat(predicted_codes(predicted, labels), labels.per_example) == labels.indices
    return 1 - float(excluded.sum()) / labels.n_examples


def approximated_accuracy(probabilities: Any, labels: ComplementaryLabels) -> float:
    """Mean p_ŷ / Σ_{k not excluded} p_k, with 0 for examples whose predicted class ŷ is excluded [1]_.

    It relies on the confidence of the model, so an overconfident model scores high.

    Parameters
    ----------
    probabilities : array of shape (n, q)
        p.
    labels : ComplementaryLabels
        Labels of the same examples.

    Returns
    -------
    float
        From 0 to 1; higher is better.

    See Also
    --------
    covering_rate : The same without the confidence.

    References
    ----------
    .. [1] W. Wang, D.-D. Wu, J. Wang, G. Niu, M.-L. Zhang and M. Sugiyama, "Realistic Evaluation of Deep Partial-Label
       Learning Algorithms", ICLR 2025. https://arxiv.org/abs/2502.10184

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([2, 0], classes=3)
    >>> round(approximated_accuracy([[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]], labels), 3)
    0.375
    """
    total = 0.0
    for p, rows, columns in iter_blocks(probabilities, labels, "probabilities"):
        possible = p.sum(axis=1) - np.bincount(rows, p[rows, columns], len(p))
        best = p.argmax(axis=1)
        covered = np.ones(len(p), bool)
        covered[rows[best[rows] == columns]] = False
        total += float(np.sum(covered * p.max(axis=1) / np.maximum(possible, _TINY)))
    return total / labels.n_examples


def scel(probabilities: Any, labels: ComplementaryLabels, transition: Any) -> float:
    """−mean log (p T)_k over all examples and the classes k they exclude: their mean negative log-likelihood (SCEL) [1]_.

    Parameters
    ----------
    probabilities : array of shape (n, q)
        p.
    labels : ComplementaryLabels
        Labels of the same examples.
    transition : array of shape (q, q)
        T[y, k] = P(k is excluded | true class y), for one label per example.

    Returns
    -------
    float
        Lower is better.

    See Also
    --------
    transition_risk : An unbiased estimate of the ordinary risk.
    scarce.functional.forward_loss : The same as a loss.

    References
    ----------
    .. [1] W.-I. Lin and H.-T. Lin, "Reduction from Complementary-Label Learning to Probability Estimates", PAKDD 2023.
       https://arxiv.org/abs/2209.09500

    Examples
    --------
    >>> uniform = (1 - np.eye(3)) / 2
    >>> round(scel([[1.0, 0.0, 0.0]], ComplementaryLabels.from_single([2], classes=3), uniform), 4)
    0.6931
    """
    _check_any_exclusion(labels)
    matrix = check_transition(transition, labels.classes)
    total = 0.0
    for p, rows, columns in iter_blocks(probabilities, labels, "probabilities"):
        total -= float(np.log(np.maximum((p @ matrix)[rows, columns], _TINY)).sum())
    return total / len(labels.indices)


def transition_risk(
    probabilities: Any, labels: ComplementaryLabels, transition: Any, *, loss: Literal["cce", "01"] = "cce"
) -> float:
    """Mean Σ_j (T⁻¹)_{kj} L_j over all examples and the classes k they exclude [1]_.

    This is an unbiased estimate of the ordinary risk if T is known and invertible. Its variance is large, and it may be negative.

    Parameters
    ----------
    probabilities : array of shape (n, q)
        p.
    labels : ComplementaryLabels
        Labels of the same examples.
    transition : array of shape (q, q)
        T[y, k] = P(k is excluded | true class y), for one label per example.
    loss : {"cce", "01"}
        L_j, the cross-entropy −log p_j or the 0-1 loss.

    Returns
    -------
    float
        Lower is better.

    Raises
    ------
    LabelError
        If T is singular, or no example excludes a class.

    See Also
    --------
    scel : The negative log-likelihood of the exclusions; its variance is smaller.

    References
    ----------
    .. [1] Y.-T. Chou, G. Niu, H.-T. Lin and M. Sugiyama, "Unbiased Risk Estimators Can Mislead: A Case Study of Learning
       with Complementary Labels", ICML 2020. https://arxiv.org/abs/2007.02235

    Examples
    --------
    >>> uniform = (1 - np.eye(3)) / 2
    >>> labels = ComplementaryLabels.from_single([1, 2], classes=3)
    >>> transition_risk([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1]], labels, uniform, loss="01")
    0.0
    """
    check_option("loss", loss, ("cce", "01"))
    _check_any_exclusion(labels)
    matrix = check_transition(transition, labels.classes)
    if np.linalg.matrix_rank(matrix) < labels.n_classes:
        raise LabelError(
            "the transition matrix has no inverse, so the risk is undefined; expected an invertible matrix: use scel instead."
        )
    inverse, total = np.linalg.inv(matrix).T, 0.0
    for p, rows, columns in iter_blocks(probabilities, labels, "probabilities"):
        if loss == "cce":
            losses = -np.log(np.maximum(p, _TINY))
        else:
            losses = np.ones_like(p)
            losses[np.arange(len(p)), p.argmax(axis=1)] = 0
        total += float((losses @ inverse)[rows, columns].sum())
    return total / len(labels.indices)


def _check_any_exclusion(labels: ComplementaryLabels) -> None:
    if len(labels.indices) == 0:
        raise LabelError(
            "no example excludes any class, so there is nothing to evaluate on; expected at least one exclusion: pass other labels."
        )


class ModelOutputs(NamedTuple):
    """The outputs of a classifier for n examples, each computed when called."""

    predict: Callable[[], Any]
    decision_function: Callable[[], Any]
    predict_proba: Callable[[], Any]


@dataclass(frozen=True)
class Criterion:
    """A criterion for choosing a model without true labels.

    Attributes
    ----------
    function : callable
        Maps model outputs, labels, label model and transition matrix to a number.
    record_key : str or None
        The key in trial records; None if they do not include it.
    higher_is_better : bool
        Whether a higher value is better.
    needs : {"", "priors", "transition"}
        What the function needs besides outputs and labels.
    """

    function: Callable[[ModelOutputs, ComplementaryLabels, Any, Any], float]
    record_key: str | None
    higher_is_better: bool = True
    needs: Literal["", "priors", "transition"] = ""


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        "accuracy": Criterion(
            lambda outputs, labels, model, _: complementary_accuracy(outputs.predict(), labels, model).value,
            "scar_accuracy",
            needs="priors",
        ),
        "risk": Criterion(
            lambda outputs, labels, model, _: complementary_risk(
                outputs.decision_function(), labels, model.priors
            ),
            "scar_risk",
            higher_is_better=False,
            needs="priors",
        ),
        "covering-rate": Criterion(
            lambda outputs, labels, *_: covering_rate(outputs.predict(), labels), "covering_rate"
        ),
        "approximated-accuracy": Criterion(
            lambda outputs, labels, *_: approximated_accuracy(outputs.predict_proba(), labels),
            "approximated_accuracy",
        ),
        "scel": Criterion(
            lambda outputs, labels, _, transition: scel(outputs.predict_proba(), labels, transition),
            "scel",
            higher_is_better=False,
            needs="transition",
        ),
        "transition-risk": Criterion(
            lambda outputs, labels, _, transition: transition_risk(
                outputs.predict_proba(), labels, transition, loss="01"
            ),
            None,
            higher_is_better=False,
            needs="transition",
        ),
    }
)
"""All criteria by their names in `make_complementary_scorer`."""

RECORDED_CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {criterion.record_key: criterion for criterion in CRITERIA.values() if criterion.record_key is not None}
)
"""The criteria that a trial records after every epoch, by their keys in the record."""
