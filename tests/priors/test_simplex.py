"""`to_simplex`: raw estimates normalised to priors within the limits of the labels."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scarce.errors import MethodError, PriorError
from scarce.priors.estimate import to_simplex


@st.composite
def raw_and_rates(draw):
    q = draw(st.integers(2, 8))
    raw = draw(st.lists(st.floats(-0.5, 1.5), min_size=q, max_size=q))
    rates = draw(st.lists(st.floats(0, 1), min_size=q, max_size=q))
    assume(sum(rates) <= q - 1)
    return np.array(raw), np.array(rates)


def test_to_simplex_without_limits_divides_by_sum():
    assert to_simplex([0.2, 0.2, 0.1], [0, 0, 0]) == pytest.approx([0.4, 0.4, 0.2])


def test_to_simplex_clips_raw_estimates():
    assert to_simplex([2.0, -1.0, 0.5], [0, 0, 0], floor=0.5) == pytest.approx([0.5, 0.25, 0.25])
    assert to_simplex([0.0, 1.0], [0, 0])[0] == pytest.approx(0.001 / 1.001)


def test_to_simplex_distributes_excess_proportionally():
    """0.6, 0.3, 0.1 with 0.6 clipped to 0.2: the other 0.8 is divided 3 : 1."""
    assert to_simplex([0.6, 0.3, 0.1], [0.8, 0.1, 0.1]) == pytest.approx([0.2, 0.6, 0.2])


def test_to_simplex_applies_limits_repeatedly():
    """The same, but the second is clipped to 0.5: the third gets the rest."""
    assert to_simplex([0.6, 0.3, 0.1], [0.8, 0.5, 0.1]) == pytest.approx([0.2, 0.5, 0.3])


def test_to_simplex_gives_nothing_to_class_all_exclude():
    assert to_simplex([0.5, 0.3, 0.2], [1.0, 0.0, 0.0]) == pytest.approx([0.0, 0.6, 0.4])


@pytest.mark.parametrize("raw", [[0.1, 0.1, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
def test_to_simplex_returns_limits_that_sum_to_one(raw):
    """Ordinary labels: every example excludes all classes but one, so the limits sum to one, up to rounding."""
    assert to_simplex(raw, [0.9, 0.8, 0.3]) == pytest.approx([0.1, 0.2, 0.7])


@given(raw_and_rates())
def test_to_simplex_is_proportional_within_limits(case):
    raw, rates = case
    priors = to_simplex(raw, rates)
    assert priors.sum() == pytest.approx(1)
    assert (priors >= 0).all()
    assert (priors <= 1 - rates + 1e-8).all()
    clipped, free = np.clip(raw, 1e-3, 1), priors < 1 - rates - 1e-6
    scale = priors[free] / clipped[free]
    assert scale == pytest.approx(np.full(free.sum(), scale.max(initial=0)), rel=1e-6)
    # Only classes whose proportional share would exceed the limit are at their limit.
    if free.any():
        assert (clipped[~free] * scale.max() >= priors[~free] - 1e-6).all()


@given(raw_and_rates())
def test_to_simplex_keeps_valid_priors(case):
    priors = to_simplex(*case)
    assume(priors.min() >= 1e-3)
    assert to_simplex(priors, case[1]) == pytest.approx(priors, abs=1e-7)


@pytest.mark.parametrize(
    ("raw", "rates", "message"),
    [
        ([0.5, 0.5], [0.9, 0.9], "the rates sum to 1.8 over 2 classes"),
        ([0.5, 0.5], [0.1], "2 raw priors and 1 rates"),
        ([0.5, np.nan], [0.1, 0.1], "raw priors hold nan"),
        ([0.5, 0.5], [0.1, np.inf], "rates hold inf"),
        ([0.5, 0.5], [0.1, 1.5], "from 0.1 to 1.5"),
        ([], [], r"shape \(0,\)"),
        ([[0.5, 0.5]], [[0.1, 0.1]], r"shape \(1, 2\)"),
    ],
)
def test_to_simplex_rejects_invalid_input(raw, rates, message):
    with pytest.raises(PriorError, match=message):
        to_simplex(raw, rates)


def test_to_simplex_rejects_floor_of_zero():
    with pytest.raises(MethodError, match=r"floor=0\.0; expected a number above 0 and at most 1"):
        to_simplex([0.5, 0.5], [0.1, 0.1], floor=0.0)
