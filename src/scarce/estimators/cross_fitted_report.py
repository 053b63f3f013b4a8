"""Estimate accuracy by cross-fitting: train copies of a classifier without some examples, and evaluate them on those."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from scarce.errors import CollapseWarning, LabelError, PriorWarning
from scarce.estimators._base import report_on_predictions
from scarce.estimators._fitting import check_consistent_length, check_inputs
from scarce.estimators.auto._learners import make_folds
from scarce.estimators.classifier import ScarceClassifier
from scarce.features._arrays import take_rows
from scarce.labels import ComplementaryLabels
from scarce.metrics import ComplementaryReport

_MAX_CROSS_FITTED = 5000  # up to this many examples, each is held out once
_N_FOLDS = 4
_HELD_OUT_DIVISOR = 10  # with more examples, a tenth is held out


def held_out_folds(n_examples: int, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the indices of held-out examples: four folds for up to 5,000 examples, else a single random tenth.

    Examples
    --------
    >>> [len(fold) for fold in held_out_folds(10)], [len(fold) for fold in held_out_folds(20_000)]
    ([3, 3, 2, 2], [2000])
    """
    if n_examples > _MAX_CROSS_FITTED:
        order = np.random.default_rng(seed).permutation(n_examples)
        return [np.sort(order[: n_examples // _HELD_OUT_DIVISOR])]
    return make_folds(n_examples, _N_FOLDS, seed=seed)


def cross_fitted_report(classifier: ScarceClassifier, X: Any, y: Any) -> ComplementaryReport:
    """Estimate the accuracy of a fitted classifier from its own training data, by cross-fitting.

    Copies of the classifier are trained without some examples and evaluated on these. Up to 5,000 examples are divided into four
    folds, each held out from one of four copies; with more examples, a random tenth is held out from a single copy. The copies
    see fewer examples than the classifier, which is therefore usually slightly better than the report says.

    Parameters
    ----------
    classifier : ScarceClassifier
        A fitted classifier. The copies have its parameters, but no checkpoint and no warm start.
    X : array, DataFrame, sparse matrix or Shards
        The features that it was fitted on.
    y : ComplementaryLabels or n × q indicator
        The labels that it was fitted on.

    Returns
    -------
    ComplementaryReport
        The accuracy with its interval, scores of every class, and alarms.

    Raises
    ------
    LabelError
        If there are fewer than eight examples.

    See Also
    --------
    ScarceClassifier.report : Evaluate on other examples, without training.
    scarce.metrics.complementary_report : Evaluate any predictions.

    Examples
    --------
    >>> from scarce.testing import three_blobs
    >>> X, y, labels = three_blobs()
    >>> clf = ScarceClassifier("cc", "linear", epochs=20, learning_rate=0.1).fit(X, labels)
    >>> report = cross_fitted_report(clf, X, labels)
    >>> bool(report.accuracy.low < (clf.predict(X) == y).mean() <= report.accuracy.high)
    True
    """
    check_is_fitted(classifier)
    labels, classes = classifier._read_labels(y)
    rows = check_inputs(clone(classifier), X, reset=True)
    check_consistent_length(rows, labels)
    if len(labels) < 2 * _N_FOLDS:
        raise LabelError(
            f"{len(labels)} examples are too few to hold some out; expected at least {2 * _N_FOLDS}: pass other examples to report."
        )
    folds = held_out_folds(len(labels))
    held_out = np.concatenate(folds)
    predicted, confidence = np.empty(len(held_out), classes.dtype), np.empty(len(held_out))
    done = 0
    for fold in folds:
        training = np.setdiff1d(np.arange(len(labels)), fold)
        copy = clone(classifier).set_params(checkpoint=None, warm_start=False)
        with warnings.catch_warnings():  # the user has seen them in the fit of the classifier
            warnings.simplefilter("ignore", PriorWarning)
            warnings.simplefilter("ignore", CollapseWarning)
            copy.fit(take_rows(rows, training), _take_targets(y, training))
        fold_rows = slice(done, done := done + len(fold))
        predicted[fold_rows] = copy.predict(take_rows(rows, fold))
        confidence[fold_rows] = copy._confidence(take_rows(rows, fold))
    return report_on_predictions(classifier, predicted, confidence, labels[held_out])


def _take_targets(y: Any, rows: NDArray[np.int64]) -> Any:
    return y[rows] if isinstance(y, ComplementaryLabels) else np.asarray(y)[rows]
