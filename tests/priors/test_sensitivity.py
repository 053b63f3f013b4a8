"""Corrupted priors reach the estimator, and cost accuracy."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from scarce import ScarceClassifier
from scarce.bench.results.sensitivity import prior_sensitivity
from scarce.errors import MethodError
from scarce.priors import corrupt
from scarce.simulate import scar, uniform


class Scale(BaseEstimator):
    """Scores as far as its priors are from equal ones."""

    def __init__(self, priors="uniform"):
        self.priors = priors

    def fit(self, X, y):
        return self

    def score(self, X, y):
        return float(abs(self.priors - 0.25).sum())


def test_every_fit_gets_the_corrupted_priors():
    told, labels = [], uniform(np.arange(40) % 4)
    found = prior_sensitivity(
        Scale(), None, labels, None, None, [0.25] * 4, sigmas=[0.0, 0.5], draws=3, seed=7,
        tell=lambda *what: told.append(what),
    )  # fmt: skip
    for row, sigma in enumerate((0.0, 0.5)):
        for draw in range(3):
            expected = corrupt([0.25] * 4, sigma, 7 + draw)
            assert found.priors[row, draw] == pytest.approx(expected)
            assert found.scores[row, draw] == pytest.approx(abs(expected - 0.25).sum())
    assert found.scores[0].tolist() == [0.0] * 3
    assert [what[:2] for what in told] == [(sigma, draw) for sigma in (0.0, 0.5) for draw in range(3)]


def test_wrong_priors_cost_accuracy():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=800)
    X = 2 * np.eye(4)[y] + rng.normal(size=(800, 4))
    linear = ScarceClassifier(module="linear", epochs=30, learning_rate=0.03)
    found = prior_sensitivity(linear, X, scar(y, c=0.5), X, y, [0.25] * 4, sigmas=[0.0, 2.0], draws=3)
    assert found.scores[0].min() > found.scores[1].mean() + 0.02
    assert (found.priors <= 1 - scar(y, c=0.5).rates + 1e-9).all()


def test_an_estimator_without_priors_is_refused():
    with pytest.raises(MethodError, match="LogisticRegression has no parameter priors"):
        prior_sensitivity(LogisticRegression(), None, None, None, None, [0.5, 0.5])
