"""DEDPUL on scores of Gaussian clouds."""

import numpy as np
import pytest
from helpers.gaussians import log_odds, mixture
from scipy.stats import gaussian_kde

from scarce.errors import PriorError
from scarce.priors.dedpul import dedpul, kernel_density, mean_posterior


def scores(theta, apart=6.0, **world):
    return tuple(log_odds(rows, apart) for rows in mixture(theta, apart=apart, **world))


@pytest.mark.parametrize("apart", [3.0, 6.0])
@pytest.mark.parametrize("theta", [0.2, 0.5, 0.8, 0.9])
def test_dedpul_recovers_known_shares(theta, apart):
    """Large shares are underestimated, by 0.05 at 0.9: the density ratio is flat there and its noise counts as positive."""
    found = [dedpul(*scores(theta, apart, n_positive=1000, n_unlabeled=2000, seed=seed)) for seed in range(3)]
    assert np.mean(found) == pytest.approx(theta, abs=0.06)


def test_dedpul_is_near_zero_without_positives():
    assert dedpul(*scores(0.0)) < 0.03


def test_dedpul_is_near_one_with_only_positives():
    assert dedpul(*scores(1.0, n_positive=1000, n_unlabeled=2000)) > 0.85


def test_dedpul_ignores_order_of_rows():
    positive, unlabeled = scores(0.6)
    rng = np.random.default_rng(1)
    again = dedpul(rng.permutation(positive), rng.permutation(unlabeled))
    assert again == pytest.approx(dedpul(positive, unlabeled), abs=1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(100.0, 1.0), (0.0, 1e-3), (-5.0, 1e6)])
def test_dedpul_ignores_shift_and_scale_of_scores(shift, scale):
    positive, unlabeled = scores(0.6)
    again = dedpul(shift + scale * positive, shift + scale * unlabeled)
    assert again == pytest.approx(dedpul(positive, unlabeled), abs=2e-3)


def test_dedpul_handles_many_scores():
    """More than 2000 unlabeled scores are thinned out."""
    assert dedpul(*scores(0.7, n_positive=20_000, n_unlabeled=30_000)) == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("width", [0.05, 0.1, 0.5])
def test_density_equals_scipy_gaussian_kde(width):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=300), rng.normal(20, 3, size=100), [80.0]])
    points = rng.uniform(-5, 90, size=500)
    expected = gaussian_kde(values, width)(points)
    assert kernel_density(values, width, points) == pytest.approx(expected, abs=2e-3 * expected.max())


def test_mean_posterior_matches_values_by_hand():
    """θ = ½ turns the ratios 0, 1, 2, 4 into the posteriors 0, ½, 1, 1."""
    assert mean_posterior(0.5, np.array([2.0, 0.0, 4.0, 1.0])) == 2.5 / 4
    assert mean_posterior(np.array([0.25, 1.0]), np.array([4.0, 0.0, 2.0, 1.0])).tolist() == [
        1.75 / 4,
        3 / 4,
    ]


@pytest.mark.parametrize(
    ("positive", "unlabeled", "message"),
    [
        ([], [1.0, 2.0], r"positives have shape \(0,\)"),
        ([1.0, 2.0], [[1.0], [2.0]], r"unlabeled rows have shape \(2, 1\)"),
        ([1.0, np.nan], [1.0, 2.0], "positives hold nan"),
        ([1.0, 2.0], [1.0, np.inf], "unlabeled rows hold inf"),
        ([1.0, 1.0], [1.0, 2.0], "positives are all 1"),
        ([1.0, 2.0], [3.0], "unlabeled rows are all 3"),
        (["high", "low"], [1.0, 2.0], "cannot be read as numbers"),
    ],
)
def test_dedpul_rejects_invalid_scores(positive, unlabeled, message):
    with pytest.raises(PriorError, match=message):
        dedpul(positive, unlabeled)
