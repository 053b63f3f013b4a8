"""Prior estimators that score held-out rows: scorers, folds, bootstrap intervals and errors."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.gaussians import labeled_clouds
from scipy import sparse

from scarce.errors import FeatureError, MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.models import make_model
from scarce.priors import BestBin, KernelMean, score_based
from scarce.priors.score_based import split_folds
from scarce.training import Recipe


def test_split_folds_holds_out_every_row_once():
    for folds in (1, 2, 5):
        parts = list(split_folds(23, folds, seed=0))
        assert len(parts) == folds
        for training, held_out in parts:
            assert sorted([*training, *held_out]) == list(range(23))
    once = np.concatenate([held_out for _, held_out in split_folds(23, 5, seed=0)])
    assert sorted(once) == list(range(23))


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
def test_estimator_constructors_reject_invalid_settings(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_network_scores_keep_epoch_of_lowest_held_out_loss(monkeypatch):
    X, _, labels = labeled_clouds(60)
    outputs = iter(
        [
            torch.full((12, 4), 1.0),
            torch.from_numpy(labels[:12].indicator(dtype=np.float32)),
            torch.zeros(12, 4),
        ]
    )
    monkeypatch.setattr(score_based, "predict_logits", lambda *_, **__: next(outputs))
    rows = np.arange(12, 60), np.arange(12)
    kept = score_based.network_scores(
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


def test_estimate_interval_is_middle_95_percent_of_resamples(monkeypatch):
    X, _, labels = labeled_clouds(300)
    known = np.repeat(np.arange(101.0)[:, None] / 400, 4, axis=1)
    monkeypatch.setattr(BestBin, "_bootstrap_estimates", lambda *_: known)
    estimate = BestBin(scorer="linear", bootstrap=101).estimate(X, labels)
    assert estimate.low == pytest.approx([2.5 / 400] * 4)
    assert estimate.high == pytest.approx([97.5 / 400] * 4)


def test_estimate_accepts_lists_tensors_frames_and_sparse_matrices():
    X, _, labels = labeled_clouds(200)
    expected = BestBin(scorer="linear", bootstrap=0).estimate(X, labels).raw.tolist()
    for form in (X.tolist(), torch.from_numpy(X).requires_grad_(), pd.DataFrame(X)):
        assert BestBin(scorer="linear", bootstrap=0).estimate(
            form, labels.indicator(dtype=int)
        ).raw == pytest.approx(expected, abs=0.02)
    assert BestBin(scorer="linear", bootstrap=0).estimate(sparse.coo_matrix(X), labels).raw == pytest.approx(
        expected
    )


def test_estimate_rejects_invalid_data():
    X, _, labels = labeled_clouds(100)
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
