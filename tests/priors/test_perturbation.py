"""Priors made wrong on purpose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import ScarceError
from scarce.priors.perturbation import corrupt


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=12),
    st.floats(0, 5),
    st.integers(0, 1000),
)
def test_a_distribution_in_which_no_class_is_lost(weights, sigma, seed):
    corrupted = corrupt(weights, sigma, seed)
    assert corrupted.sum() == pytest.approx(1)
    assert (corrupted > 0).all()


def test_no_noise_changes_nothing():
    priors = np.array([0.0001, 0.1999, 0.3, 0.5])
    assert corrupt(priors, 0.0, seed=5) == pytest.approx(priors)


def test_factors_are_normal_around_one():
    """Over equal priors of many classes, q π̃ is the factor over a mean that is nearly one."""
    factors = 100_000 * corrupt(np.full(100_000, 1e-5), 0.2, seed=1)
    assert factors.std() == pytest.approx(0.2, abs=0.005)
    assert np.mean(np.abs(factors - 1) < 0.2) == pytest.approx(0.683, abs=0.01)


def test_the_noise_is_multiplicative():
    """The same factors on priors of other sizes: after dividing by the priors, the same proportions."""
    uneven = np.array([0.7, 0.2, 0.1])
    even, on_uneven = corrupt(np.ones(3), 0.3, seed=4), corrupt(uneven, 0.3, seed=4) / uneven
    assert on_uneven / on_uneven.sum() == pytest.approx(even)


def test_negative_factors_leave_a_thousandth():
    """With so much noise about half of the factors are below 0; those classes share one small prior."""
    corrupted = corrupt(np.ones(50), 100.0, seed=0)
    smallest = np.isclose(corrupted, corrupted.min(), rtol=1e-9)
    assert 15 <= smallest.sum() <= 35
    assert corrupted[~smallest].min() > corrupted.min()


def test_the_seed_decides():
    assert np.array_equal(corrupt([0.5, 0.5], 0.3, seed=1), corrupt([0.5, 0.5], 0.3, seed=1))
    assert not np.array_equal(corrupt([0.5, 0.5], 0.3, seed=1), corrupt([0.5, 0.5], 0.3, seed=2))


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
def test_refusals(priors, sigma, seed, message):
    with pytest.raises(ScarceError, match=message):
        corrupt(priors, sigma, seed)
