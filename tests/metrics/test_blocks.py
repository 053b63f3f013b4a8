"""Metrics read scores block by block, with the same result as for all rows at once."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    _blocks,
    approximated_accuracy,
    complementary_risk,
    make_complementary_scorer,
    scel,
    transition_risk,
)
from scarce.metrics._blocks import LazyScores
from scarce.simulate import scar

N, Q = 31, 4
RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(N, Q))
P = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
LABELS = scar(RNG.integers(0, Q, N), c=0.5, classes=Q, seed=1)
T = RNG.dirichlet(np.ones(Q), Q)
PRIORS = np.full(Q, 1 / Q)

METRICS = {
    "risk": lambda scores: complementary_risk(scores, LABELS, PRIORS),
    "logistic-risk": lambda scores: complementary_risk(scores, LABELS, PRIORS, loss="logistic"),
    "approximated-accuracy": lambda scores: approximated_accuracy(scores, LABELS),
    "scel": lambda scores: scel(scores, LABELS, T),
    "transition-risk": lambda scores: transition_risk(scores, LABELS, T),
    "transition-risk-01": lambda scores: transition_risk(scores, LABELS, T, loss="01"),
}


def test_labels_of_this_file_exclude_zero_to_three_classes():
    assert {0, 1, 2, 3} <= set(LABELS.per_example.tolist())


@pytest.mark.parametrize("height", [1, 2, 7, 30])
@pytest.mark.parametrize("name", METRICS)
def test_metrics_do_not_depend_on_block_size(monkeypatch, name, height):
    whole = METRICS[name](P)
    monkeypatch.setattr(_blocks, "_MAX_CELLS", height * Q + 1)
    assert METRICS[name](P) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_metrics_accept_memmaps_and_computed_scores(monkeypatch, tmp_path, name):
    np.save(tmp_path / "p.npy", P)
    whole = METRICS[name](P)
    monkeypatch.setattr(_blocks, "_MAX_CELLS", 5 * Q)
    for scores in (
        np.load(tmp_path / "p.npy", mmap_mode="r"),
        LazyScores(lambda rows: rows, P, Q),
        torch.tensor(P, requires_grad=True),
        P.tolist(),
        pd.DataFrame(P, index=np.arange(N)[::-1]),
    ):
        assert METRICS[name](scores) == pytest.approx(whole, rel=1e-12)


class RowCountingClassifier:
    """A classifier that records how many rows it is asked for at once."""

    classes_ = np.arange(Q)

    def __init__(self):
        self.asked = []

    def decision_function(self, X):
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        self.asked.append(len(rows))
        return rows

    predict_proba = decision_function


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame, np.ndarray.tolist])
def test_scorer_asks_classifier_for_one_block_at_a_time(monkeypatch, kind):
    expected = -complementary_risk(P, LABELS, PRIORS), approximated_accuracy(P, LABELS)
    monkeypatch.setattr(_blocks, "_MAX_CELLS", 8 * Q)
    for criterion, value in zip(("risk", "approximated-accuracy"), expected, strict=True):
        classifier = RowCountingClassifier()
        scorer = make_complementary_scorer(criterion, priors=PRIORS)
        assert scorer(classifier, kind(P), LABELS) == pytest.approx(value, rel=1e-12)
        assert classifier.asked == [8, 8, 8, 7]


def test_metrics_reject_scores_of_wrong_shape():
    with pytest.raises(LabelError, match=r"the probabilities have shape \(31, 3\); expected \(31, 4\)"):
        approximated_accuracy(LazyScores(lambda rows: rows[:, :3], P, Q), LABELS)
    with pytest.raises(LabelError, match=r"have shape \(32, 4\); expected \(31, 4\)"):
        approximated_accuracy(LazyScores(lambda rows: rows, np.vstack([P, P[:1]]), Q), LABELS)
    few = ComplementaryLabels.from_single([0], classes=2)
    with pytest.raises(LabelError, match="the probabilities are not a matrix of numbers"):
        approximated_accuracy(np.array([["a", "b"]]), few)
