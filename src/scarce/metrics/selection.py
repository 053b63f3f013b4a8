"""Other criteria of the field for choosing a model without true labels."""

from typing import Any, Literal

import numpy as np

from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels
from scarce.labels.csr import IntArray
from scarce.metrics.checks import check_scores, predicted_codes
from scarce.simulate.checks import check_transition

__all__ = ["approximated_accuracy", "covering_rate", "scel", "transition_risk"]

_TINY = np.finfo(float).tiny


def covering_rate(predicted: Any, labels: ComplementaryLabels) -> float:
    """Return the share of examples whose predicted class is not excluded.

    Examples
    --------
    >>> covering_rate([0, 1], ComplementaryLabels.from_single([0, 0], classes=3))
    0.5
    """
    rows, columns = _pairs(labels)
    return 1 - float((predicted_codes(predicted, labels)[rows] == columns).sum()) / labels.n_examples


def approximated_accuracy(probabilities: Any, labels: ComplementaryLabels) -> float:
    """Return mean of p_ŷ / Σ_{k not excluded} p_k, counting 0 where the predicted class ŷ is excluded.

    It trusts the model's own confidence, so an over-confident model scores high.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([2, 0], classes=3)
    >>> round(approximated_accuracy([[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]], labels), 3)
    0.375
    """
    p = check_scores(probabilities, labels, "probabilities")
    rows, columns = _pairs(labels)
    possible = p.sum(axis=1) - np.bincount(rows, p[rows, columns], labels.n_examples)
    best = p.argmax(axis=1)
    covered = np.ones(labels.n_examples, bool)
    covered[rows[best[rows] == columns]] = False
    return float(np.mean(covered * p.max(axis=1) / np.maximum(possible, _TINY)))


def scel(probabilities: Any, labels: ComplementaryLabels, transition: Any) -> float:
    """Return −mean log (p T)_k over all (example, excluded class k): the likelihood of the exclusions themselves.

    `transition` is T[y, k] = p(k is excluded | true class y) for one label per example, and must be known.

    Examples
    --------
    >>> uniform = (1 - np.eye(3)) / 2
    >>> round(scel([[1.0, 0.0, 0.0]], ComplementaryLabels.from_single([2], classes=3), uniform), 4)
    0.6931
    """
    rows, columns = _some_pairs(labels)
    matrix = check_transition(transition, labels.classes)
    chance = check_scores(probabilities, labels, "probabilities") @ matrix
    return float(-np.log(np.maximum(chance[rows, columns], _TINY)).mean())


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
    p = check_scores(probabilities, labels, "probabilities")
    if loss == "cce":
        losses = -np.log(np.maximum(p, _TINY))
    elif loss == "01":
        losses = 1.0 - np.eye(labels.n_classes)[p.argmax(axis=1)]
    else:
        raise LabelError(f"loss={loss!r} is unknown; expected 'cce' or '01'.")
    matrix = check_transition(transition, labels.classes)
    if np.linalg.matrix_rank(matrix) < labels.n_classes:
        raise LabelError(
            "the transition matrix has no inverse, so this risk does not exist; use scel instead."
        )
    rows, columns = _some_pairs(labels)
    return float((losses @ np.linalg.inv(matrix).T)[rows, columns].mean())


def _pairs(labels: ComplementaryLabels) -> tuple[IntArray, IntArray]:
    return np.repeat(np.arange(labels.n_examples), labels.per_example), labels.indices


def _some_pairs(labels: ComplementaryLabels) -> tuple[IntArray, IntArray]:
    if len(labels.indices) == 0:
        raise LabelError("no example excludes any class: there is nothing to judge by.")
    return _pairs(labels)
