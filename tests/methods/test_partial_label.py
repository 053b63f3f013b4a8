"""Partial-label methods: losses and confidences against slow loops, and their state during training."""

from math import log

import numpy as np
import pytest
import torch
from helpers.methods import (
    CLOSE,
    CONFIDENCE_METHODS,
    RECIPE,
    arbitrary_confidence,
    batch_of,
    candidates_of,
    double,
    labels_of,
    linear_model,
    loss_of,
    mean,
    mixed_labels,
    prepared_method,
    quick,
    random_problems,
    recorded_states,
    slow_candidate_softmax,
    softmax,
)
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.methods.partial_label import candidate_matrix
from scarce.testing import three_blobs
from scarce.training import Recipe, train


def slow_cross_entropy(logits, C):
    return mean(
        [
            -sum(c * log(p) for c, p in zip(row, softmax(f), strict=True))
            for row, f in zip(C, logits, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ["rc", "proden", "cavl", "pop"])
@quick
@given(random_problems("any"))
def test_confidence_weighted_cross_entropy_equals_slow_loop(name, problem):
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = prepared_method(name, labels)
    equal = [[(j not in ks) / (q - len(ks)) for j in range(q)] for ks in excluded]
    assert method.confidence.tolist() == [pytest.approx(row, abs=1e-7) for row in equal]
    C = arbitrary_confidence(logits, excluded)
    method.confidence = double(C)
    assert loss_of(method, logits, labels) == pytest.approx(slow_cross_entropy(logits, C), **CLOSE)


def slow_most_active(f, S):
    values = {j: abs(f[j] - 1) * f[j] for j in S}
    return [float(j == max(S, key=values.__getitem__)) for j in range(len(f))]


def slow_leveraged(f, S):
    p, q = softmax(f), len(f)
    inside = sum(p[j] for j in S) + q * 1e-8
    outside = sum(p[j] for j in range(q) if j not in S) + q * 1e-8
    return [p[j] / (inside if j in S else outside) for j in range(q)]


SLOW_UPDATES = {
    "rc": slow_candidate_softmax,
    "proden": slow_candidate_softmax,
    "pop": slow_candidate_softmax,
    "cavl": slow_most_active,
    "lws": slow_leveraged,
}


@pytest.mark.parametrize("name", SLOW_UPDATES)
@quick
@given(random_problems("any"), st.integers(1, 7))
def test_confidence_after_step_equals_slow_loop(name, problem, n_touched):
    """RC, CAVL and LWS run the model again (here with reversed logits), PRODEN and POP reuse the logits of the loss."""
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    rows = list(range(min(n_touched, len(logits))))
    again = [f[::-1] for f in logits]
    method = prepared_method(name, labels)
    before = method.confidence.tolist()
    batch = batch_of(labels, rows, inputs=double(again)[rows])
    method.loss(double(logits)[rows], batch)
    method.after_step(torch.nn.Identity(), batch)
    seen = logits if name in ("proden", "pop") else again
    for i, row in enumerate(method.confidence.tolist()):
        expected = SLOW_UPDATES[name](seen[i], candidates_of(excluded[i], q)) if i in rows else before[i]
        assert row == pytest.approx(expected, **CLOSE)


# State during training ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CONFIDENCE_METHODS if name != "lws"])
def test_confidence_stays_distribution_over_candidates(name):
    inputs, labels = mixed_labels()
    params = {"pop": {"warm_up": 5, "theta": 0.3}, "idgp": {"warm_up": 2}}.get(name, {})
    states = recorded_states(make_method(name, **params), inputs, labels)
    candidates = candidate_matrix(labels)
    excluded = torch.from_numpy(labels.indicator())
    sizes = candidates.sum(dim=1)
    known = torch.from_numpy(labels.confirmed >= 0)
    assert set(sizes[known].tolist()) == {1}
    assert set(sizes.tolist()) == {1, 2, 3}
    for state in states:
        C = state["confidence"]
        assert C.min() >= 0
        assert not (state["candidates"] & excluded).any()
        assert C[~candidates].max() == 0
        torch.testing.assert_close(C.sum(dim=1), torch.ones(60))
        torch.testing.assert_close(C[known], candidates[known].float())
    assert not torch.equal(states[-1]["confidence"], states[0]["confidence"])


def test_candidate_matrix_keeps_only_confirmed_class():
    labels = ComplementaryLabels.from_answer_matrix(
        [[1, np.nan, np.nan], [0, 1, np.nan], [0, np.nan, 0], [np.nan, np.nan, np.nan]]
    )
    assert candidate_matrix(labels).int().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("name", ["rc", "proden", "cavl", "pop", "cc"])
def test_loss_of_confirmed_row_equals_cross_entropy(name):
    labels = ComplementaryLabels.from_answer_matrix([[1, np.nan, np.nan], [0, 1, np.nan]])
    logits = double([[0.3, 1.0, -0.5], [0.2, -0.1, 0.9]])
    logp = torch.log_softmax(logits, dim=1)
    loss = prepared_method(name, labels).loss(logits, batch_of(labels))
    assert loss.item() == pytest.approx(-(logp[0, 0] + logp[1, 1]).item() / 2)


@pytest.mark.parametrize("name", ["proden", "rc", "pop"])
def test_candidate_of_underflowed_probability_recovers(name):
    """Deriving the candidates from the confidences, as in the published code, would lose it forever."""
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = prepared_method(name, labels).float()

    def step(logits):
        logits = torch.tensor([logits], requires_grad=True)
        batch = batch_of(labels, inputs=logits.detach())
        loss = method.loss(logits, batch)
        loss.backward()
        assert loss.isfinite()
        assert logits.grad.isfinite().all()
        method.after_step(nn.Identity(), batch)
        return method.confidence.tolist()

    assert step([300.0, -300.0, 0.0]) == [[1.0, 0.0, 0.0]]
    assert step([-300.0, 300.0, 0.0]) == [[0.0, 1.0, 0.0]]
    assert step([0.0, 0.0, 500.0]) == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("name", CONFIDENCE_METHODS)
def test_batch_norm_statistics_update_once_per_step(name):
    inputs, labels = mixed_labels()
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 3))
    recorded_states(make_method(name), inputs, labels, Recipe(epochs=3, batch_size=20), model)
    assert model[0].num_batches_tracked.item() == 9

    model[0].reset_running_stats()
    recorded_states(make_method(name), inputs, labels, Recipe(epochs=1, batch_size=60), model)
    torch.testing.assert_close(model[0].running_mean, 0.1 * torch.from_numpy(inputs).mean(dim=0))


@pytest.mark.parametrize("name", ["rc", "cavl", "lws"])
def test_second_forward_pass_uses_evaluation_mode(name):
    labels = ComplementaryLabels.from_single([0, 1, 2], classes=3)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(3, 3)).double()
    batch = batch_of(labels, inputs=torch.eye(3, dtype=torch.float64))
    method = prepared_method(name, labels)
    method.after_step(model, batch)
    assert model.training
    assert model[0].training
    plain = model[1](batch.inputs).detach()
    torch.testing.assert_close(method.confidence, method.updated_confidence(plain, method.candidates))
    assert not method.confidence.requires_grad


@pytest.mark.parametrize("name", [*CONFIDENCE_METHODS, "cpe-t"])
def test_prepare_resets_state_of_used_method(name):
    X, _, labels = three_blobs(60)
    params = {"pop": {"warm_up": 5, "theta": 0.2}, "idgp": {"warm_up": 1}}.get(name, {})

    def weights(method):
        model = linear_model()
        train(
            model,
            method,
            X,
            labels,
            RECIPE,
            make_model=lambda: linear_model(1),
            transition=(1 - np.eye(3)) / 2,
        )
        return {**model.state_dict(), **{f"method.{k}": v.clone() for k, v in method.state_dict().items()}}

    method = make_method(name, **params)
    first, second = weights(method), weights(method)
    assert all(torch.equal(first[key], second[key]) for key in first)
