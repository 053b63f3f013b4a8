"""Best Bin Estimation: values by hand, invariances, and priors that are known because we made the data."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.golden import records
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from scarce.errors import FeatureError, MethodError, PriorError, PriorWarning
from scarce.labels import ComplementaryLabels
from scarce.models import make_model
from scarce.priors import BestBin, Dedpul, ElkanNoto, KernelMean, Tice, scorer
from scarce.priors.base import shrunk
from scarce.priors.scorer import splits
from scarce.pu import best_bin
from scarce.simulate import biased_a, scar
from scarce.training import Recipe

PRIORS = np.array([0.1, 0.2, 0.3, 0.4])
C = np.array([0.3, 0.4, 0.5, 0.6])


def clouds(n=3000, seed=0, spread=1.0):
    """Four Gaussian clouds with unequal priors and unequal rates of exclusion."""
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=PRIORS)
    X = (4 * np.eye(4)[y] + spread * rng.normal(size=(n, 4))).astype(np.float32)
    return X, y, scar(y, c=C, classes=4, seed=seed)


@pytest.mark.parametrize("record", records("bbe"))
def test_the_reference_scores(record):
    params, value = record["params"], record["value"]
    found = best_bin(params["z_p"], params["z_u"], delta=params["delta"], gamma=params["gamma"])
    assert found.mixture_proportion == value["theta"]
    assert found.bound == pytest.approx(value["upper"], abs=1e-9)
    if params["style"] == "clean":
        assert found.threshold == value["z"]


def obvious(positive, unlabeled, delta=0.1, gamma=0.01):
    """Every score as a threshold, one after the other."""
    width = sum(np.sqrt(np.log(4 / delta) / (2 * len(part))) for part in (positive, unlabeled))
    best = (np.inf, None)
    for z in [*positive, *unlabeled]:
        q_p, q_u = np.mean([p >= z for p in positive]), np.mean([u >= z for u in unlabeled])
        if q_p > 0:
            best = min(best, ((q_u + (1 + gamma) * width) / q_p, q_u / q_p))
    return best


SCORES = st.lists(st.sampled_from(np.linspace(-2, 2, 17).tolist()), min_size=1, max_size=25)


@given(SCORES, SCORES)
def test_against_trying_every_threshold(positive, unlabeled):
    bound, _ = obvious(positive, unlabeled)
    found = best_bin(positive, unlabeled)
    assert found.bound == pytest.approx(bound)
    q_p, q_u = (np.mean(np.array(part) >= found.threshold) for part in (positive, unlabeled))
    assert found.mixture_proportion == pytest.approx(min(q_u / q_p, 1))


@given(SCORES, SCORES)
def test_only_the_order_of_the_scores_matters(positive, unlabeled):
    plain = best_bin(positive, unlabeled)
    bent = best_bin(np.exp(3 * np.array(positive)) - 7, np.exp(3 * np.array(unlabeled)) - 7)
    assert bent[:2] == plain[:2]


def test_no_scores_no_estimate():
    with pytest.raises(PriorError, match="best_bin got 0 positive and 2 unlabelled scores"):
        best_bin([], [0.1, 0.2])


def test_all_rows_and_the_rest_say_the_same_of_one_threshold():
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
def test_unequal_priors_and_rates_are_recovered(settings, unlabeled):
    X, y, labels = clouds()
    estimate = BestBin(unlabeled=unlabeled, bootstrap=20, **settings).estimate(X, labels)
    truth = np.bincount(y) / len(y)
    assert abs(estimate.raw - truth).max() < (0.06 if settings.get("folds") == 1 else 0.04)
    assert estimate.total == pytest.approx(1, abs=0.1)
    assert estimate.values.sum() == pytest.approx(1)
    assert (estimate.low <= estimate.high).all()
    assert estimate.source == "best-bin"
    assert estimate.classes.tolist() == [0, 1, 2, 3]


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
def test_the_alternatives_come_near(estimator, tolerance):
    X, y, labels = clouds(1500)
    estimate = estimator.estimate(X, labels)
    assert abs(estimate.values - np.bincount(y) / len(y)).max() < tolerance
    assert estimate.source == estimator.name


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """95 % intervals of 4 priors in 10 draws: with coverage 0.95, 30 of 40 or fewer has a probability of 1e-6."""
    inside = 0
    for seed in range(10):
        X, y, labels = clouds(1500, seed)
        estimate = BestBin(scorer="linear", seed=seed).estimate(X, labels)
        truth = np.bincount(y) / len(y)
        inside += ((estimate.low <= truth) & (truth <= estimate.high)).sum()
    assert inside > 30


def test_same_seed_same_estimate():
    X, _, labels = clouds(600)
    one, other, another = (BestBin(seed=seed, bootstrap=10).estimate(X, labels) for seed in (3, 3, 4))
    assert one.raw.tolist() == other.raw.tolist()
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())
    assert one.raw.tolist() != another.raw.tolist()


def test_rates_leave_no_room_for_too_large_a_prior():
    X, _, labels = clouds(1500)
    for estimator in (BestBin(scorer="linear", bootstrap=0), ElkanNoto(scorer="linear", bootstrap=0)):
        assert (estimator.estimate(X, labels).values <= 1 - labels.rates + 1e-9).all()


def test_labels_that_are_not_selected_at_random_are_told_by_the_sum():
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=3000)
    X = 4 * np.eye(10)[y] + rng.normal(size=(3000, 10))
    with pytest.warns(PriorWarning, match=r"the estimated priors sum to [2-9]\.\d\d before normalising"):
        estimate = BestBin(scorer="linear", bootstrap=10).estimate(X, biased_a(y))
    assert estimate.values.sum() == pytest.approx(1)


def test_held_out_rows_are_held_out():
    for folds in (1, 2, 5):
        parts = list(splits(23, folds, seed=0))
        assert len(parts) == folds
        for training, held_out in parts:
            assert sorted([*training, *held_out]) == list(range(23))
    once = np.concatenate([held_out for _, held_out in splits(23, 5, seed=0)])
    assert sorted(once) == list(range(23))


def test_shrinking_by_hand():
    """Σ Var = 2·0.01/1.5, signal = 2·0.01: B = 1 − 0.00667·2/0.02 = 1/3 (values 0.4 and 0.6 become 0.467 and 0.533)."""
    again = np.array([[0.4, 0.6], [0.5, 0.5], [0.3, 0.7]])
    assert shrunk(np.array([0.4, 0.6]), again) == pytest.approx([0.5 - 0.1 / 3, 0.5 + 0.1 / 3])
    assert shrunk(np.array([0.5, 0.5]), again).tolist() == [0.5, 0.5]
    sure = np.repeat([[0.4, 0.6]], 5, axis=0)
    assert shrunk(np.array([0.4, 0.6]), sure) == pytest.approx([0.4, 0.6])


def test_few_rows_are_shrunk_towards_equal_priors():
    X, _, labels = clouds(300, spread=3.0)
    plain, careful = (BestBin(scorer="linear", shrink=shrink).estimate(X, labels) for shrink in (False, True))
    assert plain.raw.tolist() == careful.raw.tolist()
    assert abs(careful.values - 0.25).max() < abs(plain.values - 0.25).max()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BestBin(unlabeled="some"), MethodError, "unlabeled='some' is unknown"),
        (lambda: BestBin(delta=2), MethodError, "delta=2; expected a number from 1e-06 to 1"),
        (lambda: BestBin(delta=0), MethodError, "delta=0; expected a number"),
        (lambda: BestBin(recipe="paper"), MethodError, "recipe='paper'; expected a Recipe"),
        (lambda: BestBin(bootstrap=3), MethodError, "bootstrap=3; an interval needs at least 10 resamples"),
        (lambda: BestBin(folds=0), MethodError, "folds=0; expected a whole number of at least 1"),
        (lambda: BestBin(bootstrap=-1), MethodError, "bootstrap=-1"),
        (
            lambda: BestBin(bootstrap=0, shrink=True),
            MethodError,
            "bootstrap=0; shrink=True needs at least 10 resamples",
        ),
        (lambda: BestBin(scorer="tree"), MethodError, "scorer='tree' is unknown; expected 'network'"),
        (lambda: KernelMean(n_rows=3), MethodError, "n_rows=3"),
    ],
)
def test_settings_that_make_no_sense(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_epoch_of_the_lowest_held_out_loss_counts(monkeypatch):
    X, _, labels = clouds(60)
    outputs = iter(
        [
            torch.full((12, 4), 1.0),
            torch.from_numpy(labels[:12].indicator(dtype=np.float32)),
            torch.zeros(12, 4),
        ]
    )
    monkeypatch.setattr(scorer, "predict_logits", lambda *_, **__: next(outputs))
    rows = np.arange(12, 60), np.arange(12)
    kept = scorer.network_scores(
        X,
        labels,
        rows,
        lambda seed: make_model("linear", (4,), 4),
        Recipe(epochs=3),
        last=None,
        device="cpu",
        verbose=False,
    )
    assert len(kept) == 1
    assert kept[0].tolist() == labels[:12].indicator(dtype=float).tolist()


def test_intervals_are_the_middle_95_per_cent_of_the_resamples(monkeypatch):
    X, _, labels = clouds(300)
    known = np.repeat(np.arange(101.0)[:, None] / 400, 4, axis=1)
    monkeypatch.setattr(BestBin, "_resampled", lambda *_: known)
    estimate = BestBin(scorer="linear", bootstrap=101).estimate(X, labels)
    assert estimate.low == pytest.approx([2.5 / 400] * 4)
    assert estimate.high == pytest.approx([97.5 / 400] * 4)


def test_many_kinds_of_input_are_the_same():
    X, _, labels = clouds(200)
    expected = BestBin(scorer="linear", bootstrap=0).estimate(X, labels).raw.tolist()
    for form in (X.tolist(), torch.from_numpy(X).requires_grad_(), pd.DataFrame(X)):
        assert BestBin(scorer="linear", bootstrap=0).estimate(
            form, labels.indicator(dtype=int)
        ).raw == pytest.approx(expected, abs=0.02)
    assert BestBin(scorer="linear", bootstrap=0).estimate(sparse.coo_matrix(X), labels).raw == pytest.approx(
        expected
    )


def test_data_that_make_no_sense():
    X, _, labels = clouds(100)
    with pytest.raises(MethodError, match="folds=101; there are only 100 rows"):
        BestBin(folds=101).estimate(X, labels)
    with pytest.raises(MethodError, match=r"the scorer of class 0 failed: .*; choose another scorer"):
        BestBin(scorer="boosting").estimate(sparse.csr_matrix(X), labels)
    with pytest.raises(FeatureError, match="X has 99 rows and the labels have 100"):
        BestBin().estimate(X[:-1], labels)
    with pytest.raises(FeatureError, match="X contains NaN at row 0, column 0"):
        BestBin().estimate(np.where(np.arange(100)[:, None] == 0, np.nan, X), labels)
    with pytest.raises(FeatureError, match="expected numbers, one row per example"):
        BestBin().estimate(np.full((100, 2), "a"), labels)
    with pytest.raises(MethodError, match="has no predict_proba"):
        BestBin(scorer=object()).estimate(X, labels)
    with pytest.raises(PriorError, match="class 0 is left possible by 1 of 100 examples"):
        BestBin().estimate(X, ComplementaryLabels.from_lists([[0], [0, 1], [0, 2]] * 33 + [[1]], classes=3))
