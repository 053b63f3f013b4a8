"""The kernel mean estimator, and the nearest mean it is based on."""

import numpy as np
import pytest
from helpers.gaussians import mixture
from scipy.optimize import minimize

from scarce.errors import FeatureError, ScarceError
from scarce.priors.kernel_mean import kernel_mean, nearest_mean


def gaussian_kernel(points):
    return np.exp(-((points[:, None] - points[None]) ** 2).sum(2) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_nearest_mean_equals_general_solver(seed):
    rng = np.random.default_rng(seed)
    kernel = gaussian_kernel(rng.normal(size=(8, 2)))
    signed = rng.normal(size=8)
    signed += (1 - signed.sum()) / 8
    even = np.full(8, 1 / 8)

    def squared_distance(weights):
        return (signed - weights) @ kernel @ (signed - weights)

    general = minimize(
        squared_distance,
        even,
        method="SLSQP",
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    ours = nearest_mean(kernel, signed, even, negligible=1e-9, tolerance=1e-9)
    assert ours.min() >= 0
    assert ours.sum() == pytest.approx(1)
    assert squared_distance(ours) == pytest.approx(general.fun, rel=1e-5)
    assert ours == pytest.approx(general.x, abs=2e-3)


def test_nearest_mean_matches_plane_by_hand():
    """From (2, 2) the nearest point of the triangle (0,0), (2,0), (0,2) is (1, 1), half-way between two corners."""
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    signed = np.array([-1.0, 1.0, 1.0])
    found = nearest_mean(
        corners @ corners.T, signed, np.array([1.0, 0.0, 0.0]), negligible=0, tolerance=1e-12
    )
    assert found == pytest.approx([0, 0.5, 0.5])


def test_nearest_mean_keeps_mean_without_negative_weights():
    kernel = gaussian_kernel(np.random.default_rng(0).normal(size=(6, 2)))
    weights = np.array([0.3, 0.1, 0.1, 0.2, 0.3, 0.0])
    found = nearest_mean(kernel, weights, np.full(6, 1 / 6), negligible=1e-12, tolerance=1e-6)
    assert (found - weights) @ kernel @ (found - weights) < 1e-12


@pytest.mark.parametrize(
    ("columns", "apart", "theta", "error"),
    [
        (2, 6.0, 0.2, 0.06),
        (2, 6.0, 0.5, 0.09),
        (2, 6.0, 0.8, 0.09),
        (2, 6.0, 0.9, 0.08),
        (2, 3.0, 0.5, 0.08),
        (20, 6.0, 0.5, 0.09),
        (20, 6.0, 0.9, 0.07),
    ],
)
def test_kernel_mean_recovers_known_shares(columns, apart, theta, error):
    """KM2 underestimates slightly on a few hundred rows; the tolerances are the largest errors of several draws."""
    found = kernel_mean(*mixture(theta, columns=columns, apart=apart), n_points=400)
    assert found == pytest.approx(theta, abs=error)


def test_kernel_mean_widens_kernel_for_many_columns():
    """Under the narrowest kernel all rows are equally far from each other, and every share looks like 0."""
    assert kernel_mean(*mixture(0.9, columns=40), n_points=400) == pytest.approx(0.9, abs=0.07)


def test_kernel_mean_reduces_80_columns_to_their_plane():
    positive, unlabeled = mixture(0.5, n_positive=150, n_unlabeled=150)
    plane, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(80, 2)))
    found = kernel_mean(positive @ plane.T, unlabeled @ plane.T)
    assert found == pytest.approx(kernel_mean(positive, unlabeled), abs=0.011)


@pytest.mark.parametrize("theta", [0.3, 0.7])
def test_kernel_mean_ignores_shift_and_scale_of_features(theta):
    positive, unlabeled = mixture(theta, n_positive=200, n_unlabeled=200)
    found = kernel_mean(positive, unlabeled)
    assert kernel_mean(1e-3 * positive + 5, 1e-3 * unlabeled + 5) == pytest.approx(found, abs=0.011)
    assert kernel_mean(-(1e200**0.5) * positive, -(1e200**0.5) * unlabeled) == pytest.approx(found, abs=0.011)


def test_kernel_mean_of_identical_samples_is_largest_share():
    rows, _ = mixture(0.5, n_positive=60)
    assert kernel_mean(rows, rows, largest_share=0.9) == 0.9


def test_kernel_mean_of_disjoint_samples_is_near_zero():
    assert kernel_mean(*mixture(0.0, apart=20.0, n_positive=300, n_unlabeled=300)) < 0.05


def test_kernel_mean_is_clipped_at_largest_share():
    assert kernel_mean(*mixture(0.9), n_points=300, largest_share=0.6) == pytest.approx(0.6, abs=0.005)


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_kernel_mean_falls_back_to_km1_for_few_rows(seed):
    """With 40 rows KM2 needs a slope of 0.16, which these samples never reach: it would return 0.97."""
    assert 0.7 < kernel_mean(*mixture(0.9, n_positive=40, n_unlabeled=40, seed=seed)) < 0.9


def test_kernel_mean_subsample_depends_only_on_seed():
    samples = mixture(0.5, apart=3.0)
    found = [kernel_mean(*samples, n_points=60, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert found[0] == found[1]
    assert len(set(found)) > 1


@pytest.mark.parametrize(
    ("positive", "unlabeled", "options", "message"),
    [
        (np.empty((0, 2)), np.ones((3, 2)), {}, r"positives have shape \(0, 2\)"),
        (np.ones((3, 2)), np.ones(3), {}, r"unlabeled rows have shape \(3,\)"),
        (np.ones((3, 2)), np.ones((3, 3)), {}, "2 columns and unlabeled rows 3"),
        ([[np.nan]], [[1.0]], {}, "hold nan"),
        ([[1.0]], [[-np.inf]], {}, "hold -inf"),
        ([["a"]], [[1.0]], {}, "cannot be read as numbers"),
        (np.ones((3, 2)), np.ones((4, 2)), {}, "the same features"),
        (
            [[0.0]],
            [[1.0]],
            {"largest_share": 1.0},
            r"largest_share=1\.0; expected a number above 0 and below 1",
        ),
        ([[0.0]], [[1.0]], {"n_points": 1}, "n_points=1"),
        ([[0.0]], [[1.0]], {"seed": -1}, "seed=-1"),
    ],
)
def test_kernel_mean_rejects_invalid_input(positive, unlabeled, options, message):
    with pytest.raises(ScarceError, match=message):
        kernel_mean(positive, unlabeled, **options)


def test_kernel_mean_raises_feature_error_for_nan():
    with pytest.raises(FeatureError):
        kernel_mean([[np.nan]], [[1.0]])
