"""Transition matrices: given, uniform, or counted from confirmed examples."""

import numpy as np
import pytest

from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import MethodError
from scarce.methods._transition import resolve_transition
from scarce.simulate import BIASED_A, biased_a
from scarce.testing import three_blobs

LABELS = ComplementaryLabels.from_lists([[1], [1, 2], [0], [0], [2], []], classes=3)


def test_resolve_transition_accepts_none_and_uniform():
    assert resolve_transition(None, LABELS) is None
    np.testing.assert_array_equal(resolve_transition("uniform", LABELS), (1 - np.eye(3)) / 2)


def test_resolve_transition_normalizes_rounded_matrix():
    rounded = np.array([[0, 0.333, 0.667], [0.5, 0, 0.5], [0.2505, 0.75, 0]])
    np.testing.assert_allclose(resolve_transition(rounded, LABELS).sum(axis=1), 1, rtol=1e-12)


def test_confirmed_transition_counts_confirmed_examples_only():
    confirmed = np.array([0, 0, 1, -1, 1, 2])
    labels = ComplementaryLabels(LABELS.indptr, LABELS.indices, LABELS.classes, confirmed=confirmed)
    with pytest.raises(MethodError, match="there are none of 2"):
        resolve_transition("confirmed", labels)
    more = ComplementaryLabels.from_lists([[1], [1, 2], [0], [0], [2], [1]], classes=3)
    labels = ComplementaryLabels(more.indptr, more.indices, more.classes, confirmed=confirmed)
    np.testing.assert_allclose(
        resolve_transition("confirmed", labels), [[0, 2 / 3, 1 / 3], [0.5, 0, 0.5], [0, 1, 0]]
    )


def test_confirmed_transition_recovers_simulated_matrix():
    y = np.arange(20_000) % 10
    labels = biased_a(y, seed=0)
    known = np.where(np.arange(len(y)) < 10_000, y, -1)
    labels = ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=known)
    np.testing.assert_allclose(resolve_transition("confirmed", labels), BIASED_A, atol=0.04)


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        ("diagonal", "transition='diagonal' is unknown; expected 'uniform', 'confirmed' or a 3 × 3 matrix"),
        (np.eye(2), r"shape \(2, 2\); expected 3 × 3"),
        (np.full((3, 3), 0.5), "row of true class 0, sums to 1.5; expected 1"),
        ([[2, -1, 0], [0, 1, 0], [0, 0, 1]], "negative or missing number"),
        ([[np.nan] * 3] * 3, "negative or missing number"),
        ([["a"] * 3] * 3, "is not understood; expected numbers"),
        (np.eye(3), "row 0 of transition excludes the true class most often"),
    ],
)
def test_resolve_transition_rejects_invalid_matrix(transition, message):
    with pytest.raises(MethodError, match=message):
        resolve_transition(transition, LABELS)


def test_forward_requires_transition():
    X, y, labels = three_blobs()
    with pytest.raises(MethodError, match=r"forward needs a transition matrix"):
        ScarceClassifier("forward", epochs=1).fit(X, labels)
    quick = {"module": "linear", "epochs": 60, "learning_rate": 0.02}
    assert ScarceClassifier("forward", transition="uniform", **quick).fit(X, labels).score(X, y) > 0.9
