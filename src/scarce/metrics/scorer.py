"""Scorers for scikit-learn's model selection that need no true label."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from scarce._validation import check_option
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.labels.targets import as_labels
from scarce.metrics._blocks import Computed
from scarce.metrics.accuracy import complementary_accuracy
from scarce.metrics.criteria import approximated_accuracy, covering_rate, scel, transition_risk
from scarce.metrics.label_model import as_label_model
from scarce.metrics.risk import complementary_risk

__all__ = ["CRITERIA", "make_complementary_scorer"]

Criterion = Literal["accuracy", "risk", "covering-rate", "approximated-accuracy", "scel", "transition-risk"]
Scorer = Callable[[Any, Any, Any], float]


def _logits(estimator: Any, X: Any, labels: ComplementaryLabels) -> Computed:
    def decide(rows: Any) -> Any:
        scores = np.asarray(estimator.decision_function(rows))
        return scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1) / 2

    return Computed(decide, X, labels.n_classes)


def _probabilities(estimator: Any, X: Any, labels: ComplementaryLabels) -> Computed:
    return Computed(estimator.predict_proba, X, labels.n_classes)


# From (estimator, X, labels, label model, transition) to a score; higher is better.
CRITERIA: dict[str, Callable[[Any, Any, ComplementaryLabels, Any, Any], float]] = {
    "accuracy": lambda e, X, y, model, _: complementary_accuracy(e.predict(X), y, model).value,
    "risk": lambda e, X, y, model, _: -complementary_risk(_logits(e, X, y), y, model.priors),
    "covering-rate": lambda e, X, y, *_: covering_rate(e.predict(X), y),
    "approximated-accuracy": lambda e, X, y, *_: approximated_accuracy(_probabilities(e, X, y), y),
    "scel": lambda e, X, y, _, transition: -scel(_probabilities(e, X, y), y, transition),
    "transition-risk": lambda e, X, y, _, transition: (
        -transition_risk(_probabilities(e, X, y), y, transition, loss="01")
    ),
}
_BY_PRIORS = ("accuracy", "risk")


def make_complementary_scorer(
    criterion: Criterion = "accuracy", *, priors: Any = None, transition: Any = None
) -> Scorer:
    """Make a scorer that `GridSearchCV` and `cross_val_score` can use on complementary labels alone.

    Parameters
    ----------
    criterion : str
        ``accuracy`` (unbiased under SCAR), ``risk`` (negated), ``covering-rate``, ``approximated-accuracy``, and, for a
        known transition matrix, ``scel`` and ``transition-risk`` (negated).
    priors : array of q numbers or LabelModel, optional
        π, or how labels arise. By default `fit_label_model` finds it from the labels that a model is judged by. It never comes from
        the model: one that always says the class it believes common would be right by definition. So all candidates that are
        compared on the same labels are compared with the same priors.
    transition : array of shape (q, q), optional
        p(k is excluded | y), for the criteria that need it.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)`` where `y` is `ComplementaryLabels` or an n × q indicator.

    Examples
    --------
    >>> make_complementary_scorer("luck")
    Traceback (most recent call last):
    scarce.errors.MethodError: criterion='luck' is unknown; expected 'accuracy', 'risk', 'covering-rate', ...
    """
    check_option("criterion", criterion, CRITERIA)
    if criterion in ("scel", "transition-risk") and transition is None:
        raise MethodError(
            f"criterion={criterion!r} needs a transition matrix; pass transition=..., or choose 'accuracy'."
        )

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        labels = as_labels(y, getattr(last, "classes_", None))
        model = as_label_model(labels, priors) if criterion in _BY_PRIORS else None
        return CRITERIA[criterion](estimator, X, labels, model, transition)

    return scorer
