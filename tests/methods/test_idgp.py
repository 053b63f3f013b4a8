"""IDGP: its terms against a slow loop, its stages, and its second network."""

from itertools import pairwise
from math import log

import pytest
import torch
from helpers.methods import (
    CLOSE,
    arbitrary_confidence,
    batch_of,
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
    slow_candidate_softmax,
    softmax,
)
from hypothesis import given
from hypothesis import strategies as st

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, make_method
from scarce.methods.partial_label import candidate_matrix
from scarce.training import Recipe


def slow_bce(g, target):
    return sum(-t * log(v) - (1 - t) * log(1 - v) for v, t in zip(g, target, strict=True))


def xlogx(v):
    return v * log(v) if v else 0.0


def slow_idgp_row(F, G, d, b, S, t_f, t_g):
    """The six terms of one row."""
    q = len(F)
    f, g = softmax([v / t_f for v in F]), [sigmoid(v / t_g) for v in G]
    guess = max(S, key=lambda j: d[j])
    flipped = [1 - g[j] if j == guess else g[j] for j in range(q)]
    w = [(1 - flipped[j]) / flipped[j] if j in S else 0.0 for j in range(q)]
    v = slow_candidate_softmax([x / t_f for x in F], S)
    plain = softmax(F)
    return [
        -sum(d[j] * log(f[j]) for j in range(q)),
        -sum(w[j] / sum(w) * log(f[j]) for j in range(q)),
        sum(xlogx(d[j]) - d[j] * log(plain[j]) for j in range(q)),
        slow_bce(g, b),
        slow_bce(g, [float(j in S) for j in range(q)]) - sum(v[j] * log(1 - g[j]) for j in range(q)),
        sum(xlogx(b[j]) - b[j] * log(sigmoid(G[j])) for j in range(q)),
    ]


@quick
@given(random_problems("any"), st.sampled_from([(1.0, 1.0), (1.95, 5.91)]))
def test_idgp_loss_and_updates_equal_slow_loop(problem, temperatures):
    """One term during the warm-up, then six; λ grows from the end of the warm-up."""
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    t_f, t_g = temperatures
    weights = {"alpha": 10.0, "beta": 0.5, "theta": 0.2, "gamma": 0.1}
    method = prepared_method("idgp", labels, warm_up=2, t_f=t_f, t_g=t_g, **weights)
    method.generator = torch.nn.Identity()
    d = arbitrary_confidence(logits, excluded)
    b = [[0.7 * (j not in ks) for j in range(q)] for ks in excluded]
    G = [f[::-1] for f in logits]
    method.confidence, method.belief = double(d), double(b)
    S = [candidates_of(ks, q) for ks in excluded]
    terms = [slow_idgp_row(*row, t_f, t_g) for row in zip(logits, G, d, b, S, strict=True)]
    f, f_g, kl_f, g, g_f, kl_g = (mean(column) for column in zip(*terms, strict=True))
    for epoch, expected in {
        0: f,
        1: f,
        2: g,
        3: g,
        4: 10 * f + 0.5 * f_g + 0.2 * g + 0.1 * g_f,
        34: 10 * f + 0.5 * f_g + 0.3 * kl_f + 0.2 * g + 0.1 * g_f + 0.3 * kl_g,
        500: 10 * f + 0.5 * f_g + kl_f + 0.2 * g + 0.1 * g_f + kl_g,
    }.items():
        method.epoch.fill_(epoch)
        assert loss_of(method, logits, labels, inputs=double(G)) == pytest.approx(expected, **CLOSE)

    method.after_step(torch.nn.Identity(), Batch(double(G), double(b), torch.arange(len(G))))
    for i in range(len(logits)):
        new_d = slow_candidate_softmax([v / t_f for v in logits[i]], S[i])
        assert method.confidence[i].tolist() == pytest.approx(new_d, **CLOSE)
        new_b = [sigmoid(G[i][j] / t_g) * (j in S[i]) for j in range(q)]
        assert method.belief[i].tolist() == pytest.approx(new_b, **CLOSE)


def changed_networks(states):
    """For every epoch, whether the weights of the classifier and of the second network changed."""
    return [
        tuple(
            any(not torch.equal(before[name], after[name]) for name in after if name.startswith(part))
            for part in ("model.", "generator.")
        )
        for before, after in pairwise(states)
    ]


def test_idgp_warms_up_networks_in_turn():
    inputs, labels = mixed_labels()
    states = recorded_states(make_method("idgp", warm_up=2), inputs, labels, Recipe(epochs=6, batch_size=16))
    assert changed_networks(states) == [(True, False)] * 2 + [(False, True)] * 2 + [(True, True)] * 2
    assert [state["epoch"].item() for state in states] == list(range(7))


def test_idgp_without_warm_up_trains_both_networks():
    inputs, labels = mixed_labels()
    states = recorded_states(make_method("idgp", warm_up=0), inputs, labels, Recipe(epochs=2, batch_size=16))
    assert changed_networks(states) == [(True, True)] * 2


def test_idgp_generator_first_learns_candidates():
    """The outputs of the untrained network are not its targets."""
    inputs, labels = mixed_labels()
    states = recorded_states(make_method("idgp", warm_up=2), inputs, labels, Recipe(epochs=3, batch_size=16))
    candidates = candidate_matrix(labels).float()
    assert torch.equal(states[0]["belief"], candidates)
    assert torch.equal(states[2]["belief"], candidates)
    assert states[3]["belief"][candidates == 1].max() < 1
    assert states[3]["belief"][candidates == 0].max() == 0


def test_idgp_divergence_weight_rises_for_hundred_epochs():
    labels = ComplementaryLabels.from_single([0, 1], classes=3)
    method = prepared_method("idgp", labels, warm_up=5)
    logits, batch = double([[0.3, -1.0, 0.4], [1.0, 0.2, 0.1]]), batch_of(labels)
    losses = {}
    for epoch in (10, 11, 60, 110, 400):
        method.epoch.fill_(epoch)
        losses[epoch] = method.loss(logits, batch).item()
    whole = losses[110] - losses[10]
    assert abs(whole) > 0.1
    assert losses[11] - losses[10] == pytest.approx(whole / 100)
    assert losses[60] - losses[10] == pytest.approx(whole / 2)
    assert losses[400] == losses[110]


def test_idgp_objectives_train_separate_networks():
    labels = ComplementaryLabels.from_single([0, 1], classes=3)
    alone, both = (prepared_method("idgp", labels, warm_up=0, theta=t, gamma=t) for t in (0.0, 1.0))
    both.generator.load_state_dict(alone.generator.state_dict())
    gradients = []
    for method in (alone, both):
        logits = double([[0.3, -1.0, 0.4], [1.0, 0.2, 0.1]]).requires_grad_(True)
        method.loss(logits, batch_of(labels, inputs=torch.ones(2, 3, dtype=torch.float64))).backward()
        gradients.append((logits.grad, method.generator.output.weight.grad))
    torch.testing.assert_close(gradients[0][0], gradients[1][0])
    assert gradients[0][1].abs().max() == 0
    assert gradients[1][1].abs().max() > 0
