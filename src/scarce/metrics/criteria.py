"""Criteria for choosing a model without true labels: those of the field besides accuracy and risk, and a registry of all."""

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

__all__ = [
    "CRITERIA",
    "RECORDED_CRITERIA",
    "Criterion",
    "ModelOutputs",
    "approximated_accuracy",
    "covering_rate",
    "scel",
    "transition_risk",
]

_TINY = np.finfo(float).tiny


def covering_rate(predicted: Any, labels: ComplementaryLabels) -> float:
    """Return the fraction of examples whose predicted class is not excluded.

    Examples
    --------
    >>> covering_rate([0, 1], ComplementaryLabels.from_single([0, 0], classes=3))
    0.5
    """
    excluded = np.repeat(predicted_codes(predicted, labels), labels.per_example) == labels.indices
    return 1 - float(excluded.sum()) / labels.n_examples


def approximated_accuracy(probabilities: Any, labels: ComplementaryLabels) -> float:
    """Return mean of p_ŷ / Σ_{k not excluded} p_k, counting 0 where the predicted class ŷ is excluded.

    It trusts the model's own confidence, so an over-confident model scores high.

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
    """Return −mean log (p T)_k over all (example, excluded class k): the likelihood of the exclusions themselves.

    `transition` is T[y, k] = p(k is excluded | true class y) for one label per example, and must be known.

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
    """Return mean over (example, excluded class k) of Σ_j (T⁻¹)_{kj} L_j: unbiased for a known, invertible T.

    L is the cross-entropy −log p_j or the 0-1 loss; the variance is large, and the value may be negative.

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
            "the transition matrix has no inverse, so this risk does not exist; use scel instead."
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
        raise LabelError("no example excludes any class, so there is nothing to evaluate on.")


class ModelOutputs(NamedTuple):
    """What a classifier returns for the examples; each is computed when it is called."""

    predict: Callable[[], Any]
    decision_function: Callable[[], Any]
    predict_proba: Callable[[], Any]


@dataclass(frozen=True)
class Criterion:
    """A criterion for choosing a model without true labels.

    Attributes
    ----------
    function : callable
        From model outputs, labels, label model and transition matrix to a number.
    record_key : str or None
        The key in the records of trials; None if they do not have it.
    higher_is_better : bool
        Its direction.
    needs : {"", "priors", "transition"}
        What it needs besides outputs and labels.
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
"""Those that a trial records after every epoch, by their keys in the record."""
