"""Base classes of the classifiers: scores without true labels, and the `fit` of classifiers for tables."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce.errors import AccuracyWarning, FeatureError
from scarce.estimators._fitting import check_consistent_length, check_inputs, restore_on_error
from scarce.estimators._training_rows import TrainingRows
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels
from scarce.labels._targets import as_labels
from scarce.metrics import (
    ComplementaryReport,
    ErrorRates,
    LabelModel,
    complementary_report,
    fit_label_model,
)
from scarce.metrics.label_model import check_error_rates
from scarce.priors import PriorEstimate

_KNOWN_SOURCES = ("given", "uniform", "frequencies")  # sources of priors that do not depend on the fit


class ComplementaryClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """Add `score` and `report`, which need no true labels, to a classifier with `predict`, `classes_` and `prior_estimate_`."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: exact if `y` holds true classes, estimated if it holds complementary labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Shards
            Features of n examples.
        y : array of shape (n,), ComplementaryLabels or n × q indicator
            True classes or complementary labels.
        sample_weight : array of shape (n,), optional
            Weights of the examples; only for true classes.

        Returns
        -------
        float
            The accuracy, or the estimate of `report`.

        Warns
        -----
        AccuracyWarning
            For each alarm of the report: a reason not to trust the estimate.
        """
        check_is_fitted(self)
        if not isinstance(y, ComplementaryLabels) and (len(np.shape(y)) != 2 or np.shape(y)[1] < 2):
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        report = self.report(X, y)
        for alarm in report.alarms:
            warnings.warn(str(alarm), AccuracyWarning, stacklevel=2)
        return report.accuracy.value

    def report(
        self, X: Any, y: Any, priors: Any = None, *, error_rates: ErrorRates | None = None
    ) -> ComplementaryReport:
        """Evaluate the classifier on held-out examples with complementary labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Shards
            Features of n examples that the classifier was not trained on.
        y : ComplementaryLabels or n × q indicator
            Their complementary labels.
        priors : array of shape (q,), PriorEstimate or LabelModel, optional
            Class priors; by default those given to the classifier, or else an estimate from the labels `y`. Priors that the
            classifier has learned are never used.
        error_rates : ErrorRates, optional
            How often labels are wrong, if known.

        Returns
        -------
        ComplementaryReport
            The accuracy with its interval, scores of every class, and alarms; print it to read it. See
            `scarce.metrics.complementary_report`.
        """
        check_is_fitted(self)
        labels = as_labels(y, self.classes_)
        report = report_on_predictions(
            self, self.predict(X), self._confidence(X), labels, priors=priors, error_rates=error_rates
        )
        rows: TrainingRows | None = getattr(self, "training_rows_", None)
        alarm = None if rows is None else rows.alarm(check_inputs(self, X, reset=False))
        return report if alarm is None else replace(report, alarms=(alarm, *report.alarms))

    def _confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the largest class probability of each example, of shape (n,)."""
        confidence: NDArray[np.float64] = self.predict_proba(X).max(axis=1)
        return confidence

    def learned_error_rates(self) -> ErrorRates | None:
        """Return the error rates of annotators learned in training, or None if none were."""
        return None


class TableClassifierMixin(ComplementaryClassifierMixin):
    """Base of complementary classifiers for tables: a subclass defines `_fit` and `predict_proba`, and gets `fit` and `predict`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features and labels.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, d)
            Features; sparse only if the inner estimator accepts sparse matrices.
        y : ComplementaryLabels or n × q indicator
            The excluded classes of each example.

        Returns
        -------
        self
            The fitted classifier. If `fit` fails, an earlier fit is kept.
        """
        with restore_on_error(self):
            X = check_inputs(self, X, reset=True)
            if X.ndim != 2:
                raise FeatureError(
                    f"X has shape {X.shape}; expected a table (n × d): pass X.reshape(len(X), -1)."
                )
            labels = as_labels(y)
            check_consistent_length(X, labels)
            self._fit(X, labels)
            self.classes_, self.input_shape_ = labels.classes, input_shape(X)
            self.training_rows_ = TrainingRows.from_features(X)
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each example, of shape (n,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        tags.target_tags.two_d_labels = True
        return tags


def report_on_predictions(
    classifier: Any,
    predicted: Any,
    confidence: NDArray[np.float64],
    labels: ComplementaryLabels,
    *,
    priors: Any = None,
    error_rates: ErrorRates | None = None,
) -> ComplementaryReport:
    """Return the report on the predictions of a fitted classifier, or of copies of it, for labeled examples.

    Parameters
    ----------
    classifier : classifier
        A fitted classifier with `prior_estimate_`. Priors that were given to it count as known; priors that it learned are only
        compared with what the labels allow.
    predicted : array of shape (n,)
        The predicted class names.
    confidence : array of shape (n,)
        The largest class probability of each example.
    labels : ComplementaryLabels
        The complementary labels of the examples.
    priors : array of shape (q,), PriorEstimate or LabelModel, optional
        Priors to use instead of those of the classifier.
    error_rates : ErrorRates, optional
        How often labels are wrong, if known.

    Returns
    -------
    ComplementaryReport
        The accuracy with its interval, and alarms.
    """
    if error_rates is not None:
        check_error_rates(error_rates, labels)
    estimate: PriorEstimate = classifier.prior_estimate_
    is_known = estimate.source in _KNOWN_SOURCES
    if priors is None and is_known:
        priors = estimate
    if not isinstance(priors, LabelModel):
        interval = None
        if isinstance(priors, PriorEstimate):
            bounds = priors.low, priors.high
            interval = None if bounds[0] is None or bounds[1] is None else bounds
            priors = priors.values
        priors = fit_label_model(
            labels,
            priors,
            errors=error_rates,
            learned_errors=classifier.learned_error_rates(),
            prior_interval=interval,
        )
    return complementary_report(
        predicted,
        labels,
        priors,
        confidence=confidence,
        learned_priors=None if is_known else estimate.values,
    )
