"""`ElkanNotoClassifier`: the label frequency, and settings and labels that it rejects."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from scarce import ElkanNotoClassifier
from scarce.errors import LabelError, MethodError


class KnownProbability(ClassifierMixin, BaseEstimator):
    """Returns p(s = 1 | x) from the first column, but 1 for rows it was trained on."""

    def fit(self, X, y):
        self.seen_ = {float(number) for number in X[:, 1]}
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        p = [1.0 if number in self.seen_ else p for p, number in X]
        return np.stack([1 - np.array(p), p], axis=1)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def test_label_frequency_is_mean_over_held_out_positives():
    p = np.array([0.1, 0.2, 0.6, 0.3, 0.4, 0.5, 0.2, 0.2])
    s = np.array([0, 1, 1, 0, 1, 0, 1, 0])
    learner = ElkanNotoClassifier(KnownProbability(), folds=4).fit(np.stack([p, np.arange(8)], axis=1), s)
    assert learner.label_frequency_ == pytest.approx((0.2 + 0.6 + 0.4 + 0.2) / 4)
    fresh = np.array([[0.07, 100], [0.21, 101], [0.7, 102]])
    assert learner.predict_proba(fresh)[:, 1] == pytest.approx([0.2, 0.6, 1.0])
    assert learner.predict_proba(fresh).sum(axis=1) == pytest.approx([1, 1, 1])
    assert learner.predict(fresh).tolist() == [0, 1, 1]


def test_label_frequency_is_recovered_from_data():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.4
    X = rng.normal(size=(3000, 3)) + 3 * positive[:, None]
    for c in (0.2, 0.7):
        s = positive & (rng.random(3000) < c)
        learner = ElkanNotoClassifier(LogisticRegression()).fit(X, np.where(s, 1, -1))
        assert learner.label_frequency_ == pytest.approx(c, abs=0.05)
        assert np.mean(learner.predict(X) == positive) > 0.93


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 0, 2, 0], r"y holds \[0, 1, 2\]; expected 1 for known positives and 0"),
        (["a", "b", "a", "b"], r"y holds \['a', 'b'\]; expected 1"),
        ([1, 0, 0, 0], "1 known positives and 3 unlabeled rows; expected at least two of each"),
        ([1, 1, 1, 1], "4 known positives and 0 unlabeled"),
    ],
)
def test_elkan_noto_rejects_invalid_labels(y, message):
    with pytest.raises(LabelError, match=message):
        ElkanNotoClassifier(LogisticRegression()).fit(np.zeros((4, 1)), y)


def test_elkan_noto_rejects_invalid_settings():
    X, s = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(MethodError, match="folds=1; expected a whole number of at least 2"):
        ElkanNotoClassifier(LogisticRegression(), folds=1).fit(X, s)
    with pytest.raises(MethodError, match="a mean probability of 0 for held-out positives"):
        ElkanNotoClassifier(KnownProbability()).fit(np.stack([0 * X[:, 0], X[:, 0]], axis=1), s)
    with pytest.raises(NotFittedError):
        ElkanNotoClassifier().predict(X)
