"""Running one trial of an experiment that compares classifiers."""

import time
from collections.abc import Mapping
from typing import Any

from scarce.bench.baselines import BASELINES, Baseline
from scarce.bench.spec.splits import train_test_rows
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials.data import cached_table, check_checksum
from scarce.datasets import TableDataset
from scarce.estimators import ScarceClassifier
from scarce.labels import ComplementaryLabels
from scarce.simulate import simulate

__all__ = ["classifier_result", "make_classifier"]


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
    assert spec.split is not None
    data = cached_table(spec.data, data_dir)
    check_checksum(data, spec)
    train, test = train_test_rows(len(data.y), spec.split, spec.seed)
    X_train, X_test = data.features(train, test)
    classifier = make_classifier(spec.method, spec.method_params, spec.seed)
    predicted = classifier.fit(X_train, _labels(spec, data, train)).predict(X_test)
    choice = getattr(classifier, "choice_", None)
    return {
        "accuracy": float((predicted == data.y[test]).mean()),
        "reason": None if choice is None else choice.reason,
        "seconds": time.perf_counter() - started,
        "n_examples": len(train),
    }


def _labels(spec: TrialSpec, data: TableDataset, rows: Any) -> ComplementaryLabels:
    q = len(data.classes)
    if spec.process is None:
        assert data.candidates is not None
        return ComplementaryLabels.from_candidates(data.candidates[rows], classes=range(q))
    return simulate(spec.process, data.y[rows], classes=q, seed=spec.seed, **spec.setting_params)
