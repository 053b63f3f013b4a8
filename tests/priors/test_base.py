"""What all estimators of priors share: accuracy, limits, shrinkage and warnings."""

import numpy as np
import pytest
from helpers.gaussians import labeled_clouds
from sklearn.ensemble import RandomForestClassifier

from scarce.errors import PriorWarning
from scarce.priors import BestBin, Dedpul, ElkanNoto, KernelMean, Tice
from scarce.priors.base import shrink_to_uniform
from scarce.simulate import biased_a


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "tolerance"),
    [
        (Dedpul(scorer="linear", bootstrap=0), 0.05),
        (ElkanNoto(scorer="linear", bootstrap=0), 0.1),
        (KernelMean(n_points=400), 0.12),
        (Tice(), 0.15),
        (BestBin(scorer="boosting", bootstrap=0), 0.05),
        (BestBin(scorer=RandomForestClassifier(30, min_samples_leaf=10, random_state=0), bootstrap=0), 0.05),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_estimator_is_close_to_true_priors(estimator, tolerance):
    X, y, labels = labeled_clouds(1500)
    estimate = estimator.estimate(X, labels)
    assert abs(estimate.values - np.bincount(y) / len(y)).max() < tolerance
    assert estimate.source == estimator.name


def test_estimated_priors_stay_below_one_minus_rates():
    X, _, labels = labeled_clouds(1500)
    for estimator in (BestBin(scorer="linear", bootstrap=0), ElkanNoto(scorer="linear", bootstrap=0)):
        assert (estimator.estimate(X, labels).values <= 1 - labels.rates + 1e-9).all()


def test_estimate_warns_if_raw_priors_sum_far_above_one():
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=3000)
    X = 4 * np.eye(10)[y] + rng.normal(size=(3000, 10))
    with pytest.warns(PriorWarning, match=r"the estimated priors sum to [2-9]\.\d\d before normalization"):
        estimate = BestBin(scorer="linear", bootstrap=10).estimate(X, biased_a(y))
    assert estimate.values.sum() == pytest.approx(1)


def test_shrink_to_uniform_matches_values_by_hand():
    """Σ Var = 2·0.01/1.5, signal = 2·0.01: B = 1 − 0.00667·2/0.02 = 1/3 (values 0.4 and 0.6 become 0.467 and 0.533)."""
    again = np.array([[0.4, 0.6], [0.5, 0.5], [0.3, 0.7]])
    assert shrink_to_uniform(np.array([0.4, 0.6]), again) == pytest.approx([0.5 - 0.1 / 3, 0.5 + 0.1 / 3])
    assert shrink_to_uniform(np.array([0.5, 0.5]), again).tolist() == [0.5, 0.5]
    sure = np.repeat([[0.4, 0.6]], 5, axis=0)
    assert shrink_to_uniform(np.array([0.4, 0.6]), sure) == pytest.approx([0.4, 0.6])


def test_estimate_with_shrink_is_closer_to_uniform_priors():
    X, _, labels = labeled_clouds(300, spread=3.0)
    plain, careful = (BestBin(scorer="linear", shrink=shrink).estimate(X, labels) for shrink in (False, True))
    assert plain.raw.tolist() == careful.raw.tolist()
    assert abs(careful.values - 0.25).max() < abs(plain.values - 0.25).max()
