"""LWS: its loss and weights against slow loops."""

from math import log

import pytest
import torch
from helpers.methods import (
    CLOSE,
    candidates_of,
    double,
    labels_of,
    loss_of,
    mean,
    mixed_labels,
    prepared_method,
    quick,
    random_problems,
    recorded_states,
    sigmoid,
    softmax,
)
from hypothesis import given
from hypothesis import strategies as st

from scarce.methods import make_method
from scarce.methods.partial_label import candidate_matrix
from scarce.training import Recipe


def slow_lws(f, C, S, beta, psi):
    p = softmax(f)
    if psi == "sigmoid":
        inside, outside = [sigmoid(-v) for v in f], [sigmoid(v) for v in f]
    else:
        inside, outside = [-log(v + 1e-8) for v in p], [-log(1 - v + 1e-8) for v in p]
    return sum(C[j] * (inside[j] if j in S else beta * outside[j]) for j in range(len(f)))


@quick
@given(
    random_problems("any"), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from(["sigmoid", "cross-entropy"])
)
def test_lws_loss_equals_slow_loop(problem, beta, psi):
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = prepared_method("lws", labels, beta=beta, psi=psi)
    start = [[1 / q] * q for _ in logits]
    assert method.confidence.tolist() == [pytest.approx(row, abs=1e-7) for row in start]
    C = [[abs(v) for v in f] for f in logits]  # any weights: they need not be a distribution
    method.confidence = double(C)
    expected = mean(
        [
            slow_lws(f, c, candidates_of(ks, q), beta, psi)
            for f, c, ks in zip(logits, C, excluded, strict=True)
        ]
    )
    assert loss_of(method, logits, labels) == pytest.approx(expected, **CLOSE)


RECIPE = Recipe(epochs=11, batch_size=16, learning_rate=0.1)


def test_lws_weights_are_distributions_inside_and_outside_candidates():
    inputs, labels = mixed_labels()
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=0.01)
    _, *states = recorded_states(make_method("lws"), inputs, labels, recipe)
    candidates = candidate_matrix(labels)
    some_excluded = (~candidates).any(dim=1).float()
    for state in states:
        C = state["confidence"]
        assert C.min() >= 0
        torch.testing.assert_close((C * candidates).sum(dim=1), torch.ones(60), atol=1e-4, rtol=0)
        torch.testing.assert_close((C * ~candidates).sum(dim=1), some_excluded, atol=1e-4, rtol=0)
