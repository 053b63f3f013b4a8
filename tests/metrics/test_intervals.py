"""Gamma and Wilson intervals against the Poisson distribution and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, poisson

from scarce.metrics import wilson_interval
from scarce.metrics.intervals import gamma_interval


@given(st.integers(0, 200), st.sampled_from([0.5, 0.8, 0.95, 0.99]), st.floats(0.01, 10))
def test_gamma_interval_of_equal_weights_is_poisson(n_events, level, weight):
    """Each bound leaves a tail of (1 − level) / 2 for counts at least as extreme as the observed one."""
    low, high = gamma_interval(weight * n_events, weight**2 * n_events, weight, level)
    assert poisson.cdf(n_events, high / weight) == pytest.approx((1 - level) / 2)
    if n_events:
        assert poisson.sf(n_events - 1, low / weight) == pytest.approx((1 - level) / 2)
    else:
        assert low == 0


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_interval_equals_scipy(n, proportion, level):
    k = round(n * proportion)
    low, high = wilson_interval(np.array([float(k)]), np.array([float(n)]), level)
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    assert (low[0], high[0]) == (
        pytest.approx(expected.low, abs=1e-12),
        pytest.approx(expected.high, abs=1e-12),
    )


def test_wilson_interval_without_trials_is_unit_interval():
    low, high = wilson_interval(np.array([0.0]), np.array([0.0]))
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])
