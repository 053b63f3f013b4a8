"""Running one trial of an experiment that compares classifiers."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from scarce.bench.baselines import BASELINES, Baseline
from scarce.bench.spec._splits import train_test_rows
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials._data import cached_table, check_checksum, draw_labels, load_data, sample_rows
from scarce.estimators import ScarceClassifier
from scarce.labels import ComplementaryLabels


def make_classifier(method: str, params: Mapping[str, Any], seed: int) -> Baseline | ScarceClassifier:
    """Return the classifier of a row: a baseline, or `ScarceClassifier` with a method.

    Examples
    --------
    >>> make_classifier("auto", {}, 3)
    ScarceClassifier(random_state=3)
    >>> make_classifier("cc", {"module": "linear"}, 0)
    ScarceClassifier(method='cc', module='linear')
    """
    if method in BASELINES:
        return BASELINES[method](seed)
    return ScarceClassifier(method=method, random_state=seed, **params)


def classifier_result(spec: TrialSpec, data_dir: str | None, started: float) -> dict[str, Any]:
    """Run a trial and return the fields of its record: the accuracy on the test rows, and the cost.

    Parameters
    ----------
    spec : TrialSpec
        Its kind is ``classifiers``.
    data_dir : str, optional
        The folder to search for data first.
    started : float
        When the trial began, by ``time.perf_counter``.
    """
    data = _read_data(spec, data_dir)
    classifier = make_classifier(spec.method, spec.method_params, spec.seed)
    predicted = classifier.fit(data.X_train, data.labels).predict(data.X_test)
    choice = getattr(classifier, "choice_", None)
    return {
        "accuracy": float((predicted == data.y_test).mean()),
        "reason": None if choice is None else choice.reason,
        "seconds": time.perf_counter() - started,
        "n_examples": data.labels.n_examples,
    }


class _Data(NamedTuple):
    """What a classifier is fitted to and tested on."""

    X_train: Any
    labels: ComplementaryLabels
    X_test: Any
    y_test: NDArray[Any]


def _read_data(spec: TrialSpec, data_dir: str | None) -> _Data:
    return _table_data(spec, data_dir) if spec.is_table else _image_data(spec, data_dir)


def _table_data(spec: TrialSpec, data_dir: str | None) -> _Data:
    assert spec.split is not None
    data = cached_table(spec.data, data_dir)
    check_checksum(data, spec)
    train, test = train_test_rows(len(data.y), spec.split, spec.seed)
    X_train, X_test = data.features(train, test)
    q = len(data.classes)
    if spec.process is None:
        assert data.candidates is not None
        labels = ComplementaryLabels.from_candidates(data.candidates[train], classes=range(q))
    else:
        labels = draw_labels(spec, data.y[train], q, spec.seed)
    return _Data(X_train, labels, X_test, data.y[test])


def _image_data(spec: TrialSpec, data_dir: str | None) -> _Data:
    data = load_data(spec.data, data_dir)
    check_checksum(data, spec)
    rows = sample_rows(data.y_train, spec.n_train, None, spec.seed)
    labels = draw_labels(spec, data.y_train[rows], len(data.classes), spec.seed)
    return _Data(data.X_train[rows], labels, data.X_test, data.y_test)
