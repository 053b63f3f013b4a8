"""Baseline classifiers against values worked out by hand and against slow loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from scarce.bench.baselines import BASELINES, EMLogisticRegression, KernelEM, PLkNN, SoftForest
from scarce.bench.baselines.kernel_em import reweight
from scarce.errors import FeatureError
from scarce.labels import ComplementaryLabels
from scarce.simulate import scar, uniform


def blobs(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return random.normal(size=(n, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_learns_blobs_from_one_label_each(name: str) -> None:
    X, y = blobs()
    X_test, y_test = blobs(seed=1)
    predicted = BASELINES[name](0).fit(X, uniform(y, seed=0)).predict(X_test)
    assert (predicted == y_test).mean() > 0.95


def test_pl_knn_neighbors_vote_with_candidate_shares() -> None:
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    # Candidates {0, 1, 2}, {0, 1, 2} and {2}: votes 1/3 + 1/3 for 0 and for 1, and 1/3 + 1/3 + 1 for 2.
    labels = ComplementaryLabels.from_lists([[], [], [0, 1], [1, 2]], classes=3)
    assert PLkNN(k=3).fit(X, labels).predict([[0.9]]).tolist() == [2]
    assert PLkNN(k=1).fit(X, labels).predict([[49.0]]).tolist() == [0]
    assert PLkNN(k=10).fit(X, labels).predict([[0.0]]).tolist() == [0]  # 5/3 for 0 and for 2


@pytest.mark.parametrize("columns", ["dense", "sparse"])
def test_em_logistic_regression_minimizes_its_loss(columns: str) -> None:
    X, y = blobs(30)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = scar(y, c=0.6, seed=1)
    candidates = ~labels.indicator()
    C = {"dense": 1.0, "sparse": 10.0}[columns]

    def loss(flat: np.ndarray) -> float:
        W, b = flat[:6].reshape(2, 3), flat[6:]
        total = (W**2).sum() / (2 * C)
        for x, possible in zip(X, candidates, strict=True):
            scores = np.exp(x @ W + b)
            total -= np.log(scores[possible].sum() / scores.sum())
        return float(total)

    model = EMLogisticRegression().fit(X if columns == "dense" else sparse.csr_matrix(X), labels)
    found = loss(np.concatenate([model._weights.ravel(), model._bias]))
    from_here = minimize(loss, np.concatenate([model._weights.ravel(), model._bias]))
    assert found == pytest.approx(from_here.fun, abs=0.02)


def test_kernel_em_equals_slow_loop_of_ten_rounds() -> None:
    X, y = blobs(24)
    labels = scar(y, c=0.4, seed=2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squared = [[((a - b) ** 2).sum() for b in Z] for a in Z]
    gamma = 1 / np.median([squared[i][j] for i in range(24) for j in range(i)])
    K = np.exp(-gamma * np.array(squared))
    candidates = ~labels.indicator()
    weights = candidates / candidates.sum(axis=1, keepdims=True)
    for _ in range(10):
        A = np.linalg.inv(K + np.eye(24)) @ weights
        for i, scores in enumerate(K @ A):
            kept = np.where(candidates[i], np.maximum(scores, 0), 0)
            weights[i] = kept / kept.sum() if kept.sum() > 0 else candidates[i] / candidates[i].sum()
    assert KernelEM().fit(X, labels)._coefficients == pytest.approx(A)


@given(
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3).filter(any), min_size=1, max_size=5),
    st.integers(0, 99),
)
def test_reweight_keeps_shares_of_candidates(rows: list[list[bool]], seed: int) -> None:
    candidates = np.array(rows)
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    weights = reweight(shares, np.random.default_rng(seed).normal(size=shares.shape))
    assert weights.sum(axis=1) == pytest.approx(1)
    assert not weights[~candidates].any()


def test_soft_forest_depends_only_on_its_seed() -> None:
    X, y = blobs(40)
    labels = scar(y, c=0.3, seed=0)
    first, again, other = (SoftForest(seed).fit(X, labels)._forest.predict(X) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", ["rf-soft", "kernel-em"])
def test_dense_baselines_reject_sparse_features(name: str) -> None:
    X, y = blobs(9)
    with pytest.raises(FeatureError, match=f"{name} got sparse features; expected a dense table: use pl-knn"):
        BASELINES[name](0).fit(sparse.csr_matrix(X), uniform(y))
