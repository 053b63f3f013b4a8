"""Best Bin Estimation: values by hand, invariances, and known priors of simulated data."""

import numpy as np
import pytest
from helpers.gaussians import labeled_clouds
from helpers.golden import records
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import PriorError
from scarce.priors import BestBin
from scarce.risk._mixture_proportion import best_bin


@pytest.mark.parametrize("record", records("bbe"))
def test_best_bin_matches_reference_records(record):
    params, value = record["params"], record["value"]
    found = best_bin(params["z_p"], params["z_u"], delta=params["delta"], gamma=params["gamma"])
    assert found.mixture_proportion == value["theta"]
    assert found.bound == pytest.approx(value["upper"], abs=1e-9)
    if params["style"] == "clean":
        assert found.threshold == value["z"]


def search_every_threshold(positive, unlabeled, delta=0.1, gamma=0.01):
    """Try every score as a threshold."""
    width = sum(np.sqrt(np.log(4 / delta) / (2 * len(part))) for part in (positive, unlabeled))
    best = (np.inf, None)
    for z in [*positive, *unlabeled]:
        q_p, q_u = np.mean([p >= z for p in positive]), np.mean([u >= z for u in unlabeled])
        if q_p > 0:
            best = min(best, ((q_u + (1 + gamma) * width) / q_p, q_u / q_p))
    return best


SCORES = st.lists(st.sampled_from(np.linspace(-2, 2, 17).tolist()), min_size=1, max_size=25)


@given(SCORES, SCORES)
def test_best_bin_equals_search_over_every_threshold(positive, unlabeled):
    bound, _ = search_every_threshold(positive, unlabeled)
    found = best_bin(positive, unlabeled)
    assert found.bound == pytest.approx(bound)
    q_p, q_u = (np.mean(np.array(part) >= found.threshold) for part in (positive, unlabeled))
    assert found.mixture_proportion == pytest.approx(min(q_u / q_p, 1))


@given(SCORES, SCORES)
def test_best_bin_depends_only_on_order_of_scores(positive, unlabeled):
    plain = best_bin(positive, unlabeled)
    bent = best_bin(np.exp(3 * np.array(positive)) - 7, np.exp(3 * np.array(unlabeled)) - 7)
    assert bent[:2] == plain[:2]


def test_best_bin_rejects_empty_scores():
    with pytest.raises(PriorError, match="best_bin got 0 positive and 2 unlabeled scores"):
        best_bin([], [0.1, 0.2])


def test_best_bin_agrees_for_all_rows_and_rest():
    """q_X = π̄ q_P + (1 − π̄) q_U, so 1 − θ_X = (1 − θ_U)(1 − π̄): with three steep steps both choose the same one."""
    excluded = np.repeat([True, False], [400, 600])
    scores = np.where(excluded, 2.0, np.repeat([2.0, 1.0, 0.0], [0, 0, 1000]))
    scores[400:700] = 2.0
    all_rows, rest = (
        BestBin(unlabeled=unlabeled).prior(scores, excluded, excluded.mean()) for unlabeled in ("all", "rest")
    )
    assert all_rows == pytest.approx(rest)
    assert rest == pytest.approx((1 - 300 / 600) * 0.6)


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
@pytest.mark.parametrize("settings", [{}, {"last": 3}, {"scorer": "linear"}, {"folds": 1}], ids=str)
def test_best_bin_recovers_unequal_priors_and_rates(settings, unlabeled):
    X, y, labels = labeled_clouds()
    estimate = BestBin(unlabeled=unlabeled, bootstrap=20, **settings).estimate(X, labels)
    truth = np.bincount(y) / len(y)
    assert abs(estimate.raw - truth).max() < (0.06 if settings.get("folds") == 1 else 0.04)
    assert estimate.total == pytest.approx(1, abs=0.1)
    assert estimate.values.sum() == pytest.approx(1)
    assert (estimate.low <= estimate.high).all()
    assert estimate.source == "best-bin"
    assert estimate.classes.tolist() == [0, 1, 2, 3]


def test_best_bin_intervals_cover_true_priors():
    """95 % intervals of 4 priors in 10 draws: with coverage 0.95, 30 of 40 or fewer has a probability of 1e-6."""
    inside = 0
    for seed in range(10):
        X, y, labels = labeled_clouds(1500, seed)
        estimate = BestBin(scorer="linear", seed=seed).estimate(X, labels)
        truth = np.bincount(y) / len(y)
        inside += ((estimate.low <= truth) & (truth <= estimate.high)).sum()
    assert inside > 30


def test_best_bin_estimate_depends_only_on_seed():
    X, _, labels = labeled_clouds(600)
    one, other, another = (BestBin(seed=seed, bootstrap=10).estimate(X, labels) for seed in (3, 3, 4))
    assert one.raw.tolist() == other.raw.tolist()
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())
    assert one.raw.tolist() != another.raw.tolist()
