"""POP: how candidates are removed, and when."""

from itertools import pairwise

import pytest
from helpers.methods import (
    CLOSE,
    batch_of,
    candidates_of,
    double,
    labels_of,
    mean,
    mixed_labels,
    prepared_method,
    quick,
    random_problems,
    recorded_states,
    slow_candidate_softmax,
)
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.methods.partial_label import candidate_matrix
from scarce.training import Recipe


@quick
@given(random_problems("any"), st.sampled_from([0.05, 0.3, 0.5]))
def test_pop_purification_equals_slow_loop_over_five_epochs(problem, theta):
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = prepared_method("pop", labels, warm_up=10, theta=theta, growth=0.5)
    remembered = []
    for epoch in range(10):
        C = [
            slow_candidate_softmax([v * (epoch - 4) / 3 for v in f], candidates_of(ks, q))
            for f, ks in zip(logits, excluded, strict=True)
        ]
        method.confidence = double(C)
        remembered = [*remembered, C][-5:]
        method.after_epoch(epoch)
        if epoch < 9:
            assert method.confidence.tolist() == C
    n_removed = 0
    for i, ks in enumerate(excluded):
        q_row = [mean([C[i][j] for C in remembered]) for j in range(q)]
        kept = [j for j in candidates_of(ks, q) if q_row[j] / max(q_row) >= theta]
        n_removed += q - len(ks) - len(kept)
        assert method.candidates[i].nonzero().flatten().tolist() == kept
        expected = [q_row[j] / sum(q_row[k] for k in kept) if j in kept else 0.0 for j in range(q)]
        assert method.confidence[i].tolist() == pytest.approx(expected, **CLOSE)
    grown = theta * 1.5 if n_removed < 1e-4 * len(logits) * q and theta < 0.4 else theta
    assert method.theta_now.item() == pytest.approx(grown, rel=1e-6)


def test_pop_never_restores_removed_candidates():
    """Batch updates after a purification use the remaining candidates."""
    labels = ComplementaryLabels.from_single([3, 0], classes=4)
    method = prepared_method("pop", labels, warm_up=5, theta=0.1)
    method.confidence = double([[0.9, 0.08, 0.02, 0.0], [0.0, 0.5, 0.3, 0.2]])
    for epoch in range(5):
        method.after_epoch(epoch)
    assert method.candidates.int().tolist() == [[1, 0, 0, 0], [0, 1, 1, 1]]
    opposite_logits = double([[0.0, 9.0, 9.0, 9.0], [9.0, 0.0, 0.0, 0.0]])
    batch = batch_of(labels)
    method.loss(opposite_logits, batch)
    method.after_step(nn.Identity(), batch)
    assert method.confidence.tolist() == [
        pytest.approx([1, 0, 0, 0]),
        pytest.approx([0, 1 / 3, 1 / 3, 1 / 3]),
    ]


def test_pop_never_removes_last_candidate():
    inputs, labels = mixed_labels()
    states = recorded_states(
        make_method("pop", warm_up=5, theta=1.0), inputs, labels, Recipe(epochs=16, batch_size=16)
    )
    sizes = [state["candidates"].sum().item() for state in states]
    for before, after in pairwise(states):
        assert not (after["candidates"] & ~before["candidates"]).any()
        assert after["candidates"].any(dim=1).all()
        assert after["confidence"][~after["candidates"]].max() == 0
    assert sizes[:5] == [candidate_matrix(labels).sum().item()] * 5
    assert sizes[5] < sizes[4]
    assert sizes[5] == 60  # θ = 1 keeps only the most likely candidate
    assert states[-1]["theta_now"] == 1


def test_pop_purifies_every_fifth_epoch_after_warm_up():
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = prepared_method("pop", labels, warm_up=7, theta=0.5)
    purified = []
    for epoch in range(16):
        method.candidates = candidate_matrix(labels)
        method.confidence = double([[0.9, 0.1, 0.0]])
        method.after_epoch(epoch)
        if method.candidates.sum() == 1:
            purified.append(epoch + 1)
    assert purified == [10, 15]


def test_pop_averages_last_five_epochs_only():
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = prepared_method("pop", labels, warm_up=10, theta=0.2)
    for epoch in range(10):
        old = epoch < 5
        method.confidence = double([[1.0, 0.0, 0.0]] if old else [[0.0, 1.0, 0.0]])
        method.after_epoch(epoch)
    assert method.candidates.int().tolist() == [[0, 1, 0]]


def test_pop_threshold_grows_while_few_candidates_are_removed():
    labels = ComplementaryLabels.from_single([2] * 2, classes=3)
    method = prepared_method("pop", labels, warm_up=5, theta=0.3, growth=0.2)
    thresholds = []
    for epoch in range(20):
        method.confidence = double([[0.5, 0.5, 0.0]] * 2)
        method.after_epoch(epoch)
        thresholds.append(round(method.theta_now.item(), 6))
    assert thresholds[4::5] == [0.36, 0.432, 0.432, 0.432]
