"""Perturbed priors: their distribution, and what they cost in accuracy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from scarce import ScarceClassifier
from scarce.errors import MethodError, ScarceError
from scarce.priors.perturbation import perturb_priors, prior_sensitivity
from scarce.simulate import scar, uniform


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=12),
    st.floats(0, 5),
    st.integers(0, 1000),
)
def test_perturb_priors_returns_positive_distribution(weights, sigma, seed):
    perturbed = perturb_priors(weights, sigma, seed)
    assert perturbed.sum() == pytest.approx(1)
    assert (perturbed > 0).all()


def test_perturb_priors_without_noise_returns_priors():
    priors = np.array([0.0001, 0.1999, 0.3, 0.5])
    assert perturb_priors(priors, 0.0, seed=5) == pytest.approx(priors)


def test_perturb_priors_factors_are_normal_around_one():
    """For equal priors of many classes, q π̃ is the factor divided by a mean of nearly one."""
    factors = 100_000 * perturb_priors(np.full(100_000, 1e-5), 0.2, seed=1)
    assert factors.std() == pytest.approx(0.2, abs=0.005)
    assert np.mean(np.abs(factors - 1) < 0.2) == pytest.approx(0.683, abs=0.01)


def test_perturb_priors_noise_is_multiplicative():
    """The same seed gives the same factors for other priors, up to normalisation."""
    uneven = np.array([0.7, 0.2, 0.1])
    even, on_uneven = perturb_priors(np.ones(3), 0.3, seed=4), perturb_priors(uneven, 0.3, seed=4) / uneven
    assert on_uneven / on_uneven.sum() == pytest.approx(even)


def test_perturb_priors_replaces_negative_factors_by_small_share():
    """With so much noise about half of the factors are below 0; those classes share one small prior."""
    perturbed = perturb_priors(np.ones(50), 100.0, seed=0)
    smallest = np.isclose(perturbed, perturbed.min(), rtol=1e-9)
    assert 15 <= smallest.sum() <= 35
    assert perturbed[~smallest].min() > perturbed.min()


def test_perturb_priors_depends_only_on_seed():
    assert np.array_equal(perturb_priors([0.5, 0.5], 0.3, seed=1), perturb_priors([0.5, 0.5], 0.3, seed=1))
    assert not np.array_equal(
        perturb_priors([0.5, 0.5], 0.3, seed=1), perturb_priors([0.5, 0.5], 0.3, seed=2)
    )


@pytest.mark.parametrize(
    ("priors", "sigma", "seed", "message"),
    [
        ([0.5, 0.5], -0.1, 0, "sigma=-0.1"),
        ([0.5, 0.5], np.nan, 0, "sigma=nan"),
        ([0.5, 0.5], np.inf, 0, "sigma=inf"),
        ([0.5, -0.5], 0.1, 0, "from -0.5 to 0.5"),
        ([0.0, 0.0], 0.1, 0, "from 0 to 0"),
        ([0.5, np.nan], 0.1, 0, "hold nan"),
        ([], 0.1, 0, r"shape \(0,\)"),
        ([0.5, 0.5], 0.1, -1, "seed=-1"),
    ],
)
def test_perturb_priors_rejects_invalid_input(priors, sigma, seed, message):
    with pytest.raises(ScarceError, match=message):
        perturb_priors(priors, sigma, seed)


class DistanceFromUniform(BaseEstimator):
    """Its score is the distance of its priors from equal ones."""

    def __init__(self, priors="uniform"):
        self.priors = priors

    def fit(self, X, y):
        return self

    def score(self, X, y):
        return float(abs(self.priors - 0.25).sum())


def test_prior_sensitivity_fits_with_perturbed_priors():
    calls, labels = [], uniform(np.arange(40) % 4)
    found = prior_sensitivity(
        DistanceFromUniform(), None, labels, None, None, [0.25] * 4, sigmas=[0.0, 0.5], draws=3, seed=7,
        tell=lambda *what: calls.append(what),
    )  # fmt: skip
    for row, sigma in enumerate((0.0, 0.5)):
        for draw in range(3):
            expected = perturb_priors([0.25] * 4, sigma, 7 + draw)
            assert found.priors[row, draw] == pytest.approx(expected)
            assert found.scores[row, draw] == pytest.approx(abs(expected - 0.25).sum())
    assert found.scores[0].tolist() == [0.0] * 3
    assert [what[:2] for what in calls] == [(sigma, draw) for sigma in (0.0, 0.5) for draw in range(3)]


def test_prior_sensitivity_shows_loss_of_accuracy():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=800)
    X = 2 * np.eye(4)[y] + rng.normal(size=(800, 4))
    linear = ScarceClassifier(module="linear", epochs=30, learning_rate=0.03)
    found = prior_sensitivity(linear, X, scar(y, c=0.5), X, y, [0.25] * 4, sigmas=[0.0, 2.0], draws=3)
    assert found.scores[0].min() > found.scores[1].mean() + 0.02
    assert (found.priors <= 1 - scar(y, c=0.5).rates + 1e-9).all()


def test_prior_sensitivity_rejects_estimator_without_priors():
    with pytest.raises(MethodError, match="LogisticRegression has no parameter priors"):
        prior_sensitivity(LogisticRegression(), None, None, None, None, [0.5, 0.5])
