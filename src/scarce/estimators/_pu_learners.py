"""The positive-unlabeled (PU) classifier of one class: make it, train it, and predict the probability of "not this class"."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.special import expit

from scarce._arrays import Array
from scarce._validation import check_option, shorten
from scarce.errors import MethodError
from scarce.estimators.elkan_noto import ElkanNotoClassifier


def as_pu_learner(estimator: Any, wrap: Any) -> Any:
    """Return the PU classifier to clone for every class; for `wrap`, see `MetaComplementaryClassifier`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> as_pu_learner(LogisticRegression(), "auto")
    ElkanNotoClassifier(estimator=LogisticRegression())
    """
    check_option("wrap", wrap, ("auto", True, False))
    if estimator is None and wrap is not False:
        return ElkanNotoClassifier()
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise MethodError(
            f"estimator={shorten(estimator)}; expected a scikit-learn classifier such as RandomForestClassifier()."
        )
    wrap = not _is_pu_classifier(estimator) if wrap == "auto" else wrap
    if not (hasattr(estimator, "predict_proba") or (not wrap and hasattr(estimator, "decision_function"))):
        raise MethodError(
            f"{type(estimator).__name__} has no predict_proba; expected a classifier that does: wrap it in CalibratedClassifierCV "
            "(sklearn.calibration)."
        )
    return ElkanNotoClassifier(estimator) if wrap else estimator


def _is_pu_classifier(estimator: Any) -> bool:
    if hasattr(estimator, "steps"):  # the last step of a pipeline decides
        estimator = estimator.steps[-1][1]
    from_pulearn = any(parent.__module__.partition(".")[0] == "pulearn" for parent in type(estimator).__mro__)
    return from_pulearn or getattr(estimator, "is_pu_classifier", False)


def set_nested_param(estimator: Any, name: str, value: Any) -> bool:
    """Set every parameter called `name` of an estimator and of its nested estimators; return whether there is one.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> learner = ElkanNotoClassifier(RandomForestClassifier())
    >>> set_nested_param(learner, "random_state", 7), learner.random_state, learner.estimator.random_state
    (True, 7, 7)
    """
    names = [param for param in estimator.get_params() if param.rpartition("__")[2] == name]
    estimator.set_params(**dict.fromkeys(names, value))
    return bool(names)


def fit_pu_learner(learner: Any, X: Any, known: Array, unlabeled: str, name: Any) -> Any:
    """Return the learner of class `name`, trained on unlabeled rows and on the rows `known`, which do not belong to the class."""
    s = np.zeros(X.shape[0], dtype=np.int64)
    if unlabeled == "rest":
        s[known] = 1
    else:
        X = X[np.concatenate([known, np.arange(X.shape[0])])]
        s = np.concatenate([np.ones(len(known), dtype=np.int64), s])
    with _prefix_errors(name):
        return learner.fit(X, s)


def probability_of_not(learner: Any, X: Any, name: Any) -> Array:
    """Return p(not `name` | x) from the learner of class `name`, of shape (n,); it may exceed one."""
    with _prefix_errors(name):
        if not hasattr(learner, "predict_proba"):
            return expit(np.asarray(learner.decision_function(X), dtype=float).ravel())  # type: ignore[no-any-return]
        column = list(getattr(learner, "classes_", [0, 1])).index(1)
        return np.asarray(learner.predict_proba(X), dtype=float)[:, column]


@contextmanager
def _prefix_errors(name: Any) -> Iterator[None]:
    """Turn any error into a one-line `MethodError` that names the class whose learner failed."""
    try:
        yield
    except Exception as error:
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise MethodError(f"the learner of class {name} failed: {reason}") from error
