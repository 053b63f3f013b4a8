"""What the classifiers share: a fit that succeeds or changes nothing, and a score that needs no true label."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from scarce.errors import FeatureError
from scarce.labels import ComplementaryLabels
from scarce.labels.targets import as_labels
from scarce.metrics import complementary_accuracy

__all__ = ["ComplementaryClassifierMixin", "all_or_nothing", "refuse_other_length"]


class ComplementaryClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """Gives a classifier with `predict`, `classes_` and `priors_` its `score`."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: measured if `y` holds true classes, estimated if it holds complementary labels.

        See `scarce.metrics.complementary_accuracy` for the estimate with its standard error.
        """
        check_is_fitted(self)
        if isinstance(y, ComplementaryLabels) or (len(np.shape(y)) == 2 and np.shape(y)[1] > 1):
            labels = as_labels(y, self.classes_)
            return complementary_accuracy(self.predict(X), labels, self.priors_).value
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Put the estimator back as it was if the block fails: what an earlier fit learned survives.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> estimator = SimpleNamespace(model_="old")
    >>> with all_or_nothing(estimator):
    ...     estimator.model_ = "half-trained"
    ...     raise ValueError("no more memory")
    Traceback (most recent call last):
    ValueError: no more memory
    >>> estimator.model_
    'old'
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:  # an interruption, too
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def refuse_other_length(X: Any, labels: ComplementaryLabels) -> None:
    """Raise `FeatureError` unless there are as many labels as rows of features."""
    if X.shape[0] != labels.n_examples:
        raise FeatureError(
            f"X has {X.shape[0]} rows and y has {labels.n_examples}; expected as many labels as rows."
        )
