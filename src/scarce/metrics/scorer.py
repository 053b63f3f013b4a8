"""Scorers for scikit-learn's model selection without true labels."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from scarce._validation import check_option
from scarce.errors import MethodError
from scarce.labels._targets import as_labels
from scarce.metrics._blocks import LazyScores
from scarce.metrics.criteria import CRITERIA, ModelOutputs
from scarce.metrics.label_model import as_label_model

CriterionName = Literal[
    "accuracy", "risk", "covering-rate", "approximated-accuracy", "scel", "transition-risk"
]
Scorer = Callable[[Any, Any, Any], float]


def make_complementary_scorer(
    criterion: CriterionName = "accuracy", *, priors: Any = None, transition: Any = None
) -> Scorer:
    """Make a scorer for `GridSearchCV` and `cross_val_score` that needs only complementary labels.

    Parameters
    ----------
    criterion : str
        ``accuracy`` (unbiased under SCAR), ``risk`` (negated), ``covering-rate``, ``approximated-accuracy``, and, for a
        known transition matrix, ``scel`` and ``transition-risk`` (both negated).
    priors : array of shape (q,) or LabelModel, optional
        π, or a label model, for ``accuracy`` and ``risk``. By default `fit_label_model` estimates it from the labels that a model
        is evaluated on, so all candidates are compared with the same priors. It never comes from the model itself: with its own
        priors, a model that always predicts the class it believes to be most common would look good.
    transition : array of shape (q, q), optional
        T[y, k] = P(k is excluded | y), for the criteria that need it.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, where `y` is `ComplementaryLabels` or an indicator of shape (n, q).

    Raises
    ------
    MethodError
        If the criterion is unknown, or needs a transition matrix and none is given.

    See Also
    --------
    complementary_accuracy, complementary_risk, covering_rate, approximated_accuracy, scel, transition_risk : The criteria.

    Examples
    --------
    >>> make_complementary_scorer("luck")
    Traceback (most recent call last):
    scarce.errors.MethodError: criterion='luck' is unknown; expected 'accuracy', 'risk', 'covering-rate', ...
    """
    check_option("criterion", criterion, CRITERIA)
    chosen = CRITERIA[criterion]
    if chosen.needs == "transition" and transition is None:
        raise MethodError(
            f"criterion={criterion!r} needs a transition matrix; pass transition=..., or choose 'accuracy'."
        )

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        labels = as_labels(y, getattr(last, "classes_", None))
        model = as_label_model(labels, priors) if chosen.needs == "priors" else None
        value = chosen.function(_outputs(estimator, X, labels.n_classes), labels, model, transition)
        return value if chosen.higher_is_better else -value

    return scorer


def _outputs(estimator: Any, X: Any, n_classes: int) -> ModelOutputs:
    def decision_matrix(rows: Any) -> Any:
        scores = np.asarray(estimator.decision_function(rows))
        return scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1) / 2

    return ModelOutputs(
        predict=lambda: estimator.predict(X),
        decision_function=lambda: LazyScores(decision_matrix, X, n_classes),
        predict_proba=lambda: LazyScores(estimator.predict_proba, X, n_classes),
    )
