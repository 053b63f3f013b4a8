"""TIcE: the label frequency as a lower bound over subsets found by a decision tree."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.errors import ScarceError
from scarce.priors.tice import best_lower_bound, tice


def bound(labeled, total, n_judges, c):
    delta = max(0.025, 1 / (1 + 0.004 * n_judges))
    return labeled / total - (c * (1 - c) * (1 - delta) / (delta * total)) ** 0.5


def draw_binary_rows(labeled_share, n, seed=0, columns=2):
    """Rows of zeros and ones, labeled at a rate that depends on the row."""
    rng = np.random.default_rng(seed)
    features = rng.integers(2, size=(n, columns))
    return features, rng.random(n) < labeled_share[tuple(features.T)]


def conjunctions(features, test_rows):
    """Every subset that fixes some of the columns."""
    for fixed in product([0, 1, None], repeat=features.shape[1]):
        keep = np.ones(len(test_rows), bool)
        for column, value in enumerate(fixed):
            if value is not None:
                keep &= features[test_rows, column] == value
        yield test_rows[keep]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.2, 0.5, 0.8]))
def test_best_lower_bound_of_one_column_equals_enumeration(seed, c):
    rng = np.random.default_rng(seed)
    column, n = rng.integers(4, size=600), 600
    labeled = rng.random(n) < rng.random(4)[column]
    if not labeled[:150].any():
        return
    grow_rows, test_rows = np.arange(150), np.arange(150, n)
    expected = labeled[test_rows].mean()
    for value in range(4):
        inside = test_rows[column[test_rows] == value]
        expected = max(expected, bound(labeled[inside].sum(), len(inside), len(test_rows), c))
    assert best_lower_bound(column[:, None], labeled, grow_rows, test_rows, c, 500) == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_best_lower_bound_does_not_exceed_best_conjunction(seed):
    rates = np.random.default_rng(seed).random((2, 2, 2))
    features, labeled = draw_binary_rows(rates, 800, seed, columns=3)
    grow_rows, test_rows = np.arange(200), np.arange(200, 800)
    best = max(
        bound(labeled[rows].sum(), len(rows), len(test_rows), 0.5)
        for rows in conjunctions(features, test_rows)
        if len(rows) >= 10
    )
    found = best_lower_bound(features, labeled, grow_rows, test_rows, 0.5, 500)
    assert labeled[test_rows].mean() <= found <= max(best, labeled[test_rows].mean()) + 1e-12


def test_tice_finds_corner_of_positives():
    """Only rows of ones are all positive, and 60 % of them are labeled; elsewhere there are fewer positives."""
    rates = 0.6 * np.array([[0.1, 0.5], [0.5, 1.0]])
    features, labeled = draw_binary_rows(rates, 60_000)
    corner = features.all(axis=1)
    found = tice(features, labeled)
    assert found == pytest.approx(0.6, abs=0.05)
    assert found < labeled[corner].mean()  # it is a lower bound
    assert found > labeled[features[:, 0] == 1].mean() + 0.05  # one split is not enough


def test_tice_improves_with_more_splits():
    rates = 0.6 * np.array([[0.1, 0.5], [0.5, 1.0]])
    features, labeled = draw_binary_rows(rates, 60_000)
    assert tice(features, labeled, max_splits=1) < tice(features, labeled) - 0.05


def test_tice_second_pass_narrows_margin_by_hand():
    """By hand: 4000 test rows, 2000 of them ones with a tenth labeled; δ = 1/17, so c̃ (1 − c̃) (1 − δ) / δ is 4 at c̃ = ½.

    The first pass gives 0.1 − √(4 / 2000) = 0.055, and with c̃ = 0.055 the second 0.1 − √(0.83 / 2000) = 0.080.
    """
    features = np.repeat([0.0, 1.0], 2500)[:, np.newaxis]
    labeled = (features[:, 0] > 0) & (np.arange(5000) % 10 == 0)
    assert tice(features, labeled) == pytest.approx(0.080, abs=0.003)


def test_tice_recovers_label_frequency_of_gaussian_clouds():
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.5
    features = rng.normal(size=(20_000, 2)) + 5.0 * positive[:, None]
    labeled = positive & (rng.random(20_000) < 0.4)
    assert tice(features, labeled) == pytest.approx(0.4, abs=0.04)


def test_tice_is_at_least_fraction_of_labeled_rows():
    rng = np.random.default_rng(0)
    labeled = rng.random(200) < 0.7
    assert tice(rng.normal(size=(200, 3)), labeled) >= labeled.mean() - 1e-9


def test_tice_ignores_shift_scale_and_constant_columns():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(2000, 2))
    labeled = (features[:, 0] > 0.5) & (rng.random(2000) < 0.5)
    found = tice(features, labeled)
    assert tice(8 * features - 4, labeled) == found
    assert tice(np.column_stack([features, np.full(2000, 7.0)]), labeled) == found


def test_tice_folds_depend_only_on_seed():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(500, 2))
    labeled = (features[:, 0] > 0) & (rng.random(500) < 0.5)
    found = [tice(features, labeled, seed=seed) for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert len(set(found)) > 1


@pytest.mark.parametrize(
    ("features", "positive", "options", "message"),
    [
        (np.empty((0, 2)), [], {}, "at least one of each"),
        (np.zeros(60), np.arange(60) > 5, {}, r"shape \(60,\)"),
        (np.full((60, 1), np.nan), np.arange(60) > 5, {}, "hold nan"),
        (np.zeros((60, 1)), np.arange(59) > 5, {}, "each of 60 rows"),
        (np.zeros((60, 1)), np.arange(60), {}, "expected True or False"),
        (np.zeros((60, 1)), np.zeros(60, bool), {}, "0 of 60 rows"),
        (np.zeros((60, 1)), np.ones(60, bool), {}, "60 of 60 rows"),
        (np.zeros((40, 1)), np.arange(40) > 5, {}, "at least 50 rows"),
        (np.zeros((60, 1)), np.arange(60) > 5, {"max_splits": 0}, "max_splits=0"),
    ],
)
def test_tice_rejects_invalid_input(features, positive, options, message):
    with pytest.raises(ScarceError, match=message):
        tice(features, positive, **options)
