"""The partial-label methods once more, losses and updates, with loops straight from the formulas."""

from math import log

import pytest
import torch
from helpers.methods import (
    batch_of,
    close,
    double,
    labels_of,
    loss_of,
    mean,
    quick,
    ready,
    sigmoid,
    softmax,
    worlds,
)
from hypothesis import given
from hypothesis import strategies as st

from scarce.methods import Batch


def candidates_of(ks, q):
    return [j for j in range(q) if j not in ks]


@quick
@given(worlds("any"))
def test_cc(world):
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    expected = mean(
        [
            -log(sum(softmax(f)[j] for j in candidates_of(ks, q)))
            for f, ks in zip(logits, excluded, strict=True)
        ]
    )
    assert loss_of(ready("cc", labels), logits, labels) == pytest.approx(expected, **close)


def some_confidence(logits, excluded):
    """A confidence over the candidates that is not the one any of the methods starts with."""
    rows = []
    for f, ks in zip(logits, excluded, strict=True):
        weight = [abs(f[j]) + 0.1 if j not in ks else 0.0 for j in range(len(f))]
        rows.append([w / sum(weight) for w in weight])
    return rows


def slow_cross_entropy(logits, C):
    return mean(
        [
            -sum(c * log(p) for c, p in zip(row, softmax(f), strict=True))
            for row, f in zip(C, logits, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ["rc", "proden", "cavl", "pop"])
@quick
@given(worlds("any"))
def test_cross_entropy_with_confidences(name, world):
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = ready(name, labels)
    equal = [[(j not in ks) / (q - len(ks)) for j in range(q)] for ks in excluded]
    assert method.confidence.tolist() == [pytest.approx(row, abs=1e-7) for row in equal]
    C = some_confidence(logits, excluded)
    method.confidence = double(C)
    assert loss_of(method, logits, labels) == pytest.approx(slow_cross_entropy(logits, C), **close)


def slow_lws(f, C, S, beta, psi):
    p = softmax(f)
    if psi == "sigmoid":
        inside, outside = [sigmoid(-v) for v in f], [sigmoid(v) for v in f]
    else:
        inside, outside = [-log(v + 1e-8) for v in p], [-log(1 - v + 1e-8) for v in p]
    return sum(C[j] * (inside[j] if j in S else beta * outside[j]) for j in range(len(f)))


@quick
@given(worlds("any"), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from(["sigmoid", "cross-entropy"]))
def test_lws(world, beta, psi):
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = ready("lws", labels, beta=beta, psi=psi)
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
    assert loss_of(method, logits, labels) == pytest.approx(expected, **close)


def slow_over_candidates(f, S):
    p = softmax(f)
    return [p[j] / sum(p[i] for i in S) if j in S else 0.0 for j in range(len(f))]


def slow_most_active(f, S):
    values = {j: abs(f[j] - 1) * f[j] for j in S}
    return [float(j == max(S, key=values.__getitem__)) for j in range(len(f))]


def slow_leveraged(f, S):
    p, q = softmax(f), len(f)
    inside = sum(p[j] for j in S) + q * 1e-8
    outside = sum(p[j] for j in range(q) if j not in S) + q * 1e-8
    return [p[j] / (inside if j in S else outside) for j in range(q)]


SLOW_UPDATES = {
    "rc": slow_over_candidates,
    "proden": slow_over_candidates,
    "pop": slow_over_candidates,
    "cavl": slow_most_active,
    "lws": slow_leveraged,
}


@pytest.mark.parametrize("name", SLOW_UPDATES)
@quick
@given(worlds("any"), st.integers(1, 7))
def test_confidence_after_a_step(name, world, n_touched):
    """RC, CAVL and LWS look again (here at logits turned round), PRODEN and POP keep what the loss saw."""
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    rows = list(range(min(n_touched, len(logits))))
    again = [f[::-1] for f in logits]
    method = ready(name, labels)
    before = method.confidence.tolist()
    batch = batch_of(labels, rows, inputs=double(again)[rows])
    method.loss(double(logits)[rows], batch)
    method.after_step(torch.nn.Identity(), batch)
    seen = logits if name in ("proden", "pop") else again
    for i, row in enumerate(method.confidence.tolist()):
        expected = SLOW_UPDATES[name](seen[i], candidates_of(excluded[i], q)) if i in rows else before[i]
        assert row == pytest.approx(expected, **close)


# IDGP ----------------------------------------------------------------------------------------------------------


def slow_bce(g, target):
    return sum(-t * log(v) - (1 - t) * log(1 - v) for v, t in zip(g, target, strict=True))


def xlogx(v):
    return v * log(v) if v else 0.0


def slow_idgp_row(F, G, d, b, S, t_f, t_g):
    """The six terms of one row."""
    q = len(F)
    f, g = softmax([v / t_f for v in F]), [sigmoid(v / t_g) for v in G]
    guess = max(S, key=lambda j: d[j])
    turned = [1 - g[j] if j == guess else g[j] for j in range(q)]
    w = [(1 - turned[j]) / turned[j] if j in S else 0.0 for j in range(q)]
    v = slow_over_candidates([x / t_f for x in F], S)
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
@given(worlds("any"), st.sampled_from([(1.0, 1.0), (1.95, 5.91)]))
def test_idgp(world, temperatures):
    """Warm-up has one term, the rest six; λ counts from the end of the warm-up."""
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    t_f, t_g = temperatures
    weights = {"alpha": 10.0, "beta": 0.5, "theta": 0.2, "gamma": 0.1}
    method = ready("idgp", labels, warm_up=2, t_f=t_f, t_g=t_g, **weights)
    method.generator = torch.nn.Identity()
    d = some_confidence(logits, excluded)
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
        assert loss_of(method, logits, labels, inputs=double(G)) == pytest.approx(expected, **close)

    method.after_step(torch.nn.Identity(), Batch(double(G), double(b), torch.arange(len(G))))
    for i in range(len(logits)):
        new_d = slow_over_candidates([v / t_f for v in logits[i]], S[i])
        assert method.confidence[i].tolist() == pytest.approx(new_d, **close)
        new_b = [sigmoid(G[i][j] / t_g) * (j in S[i]) for j in range(q)]
        assert method.belief[i].tolist() == pytest.approx(new_b, **close)


# POP -----------------------------------------------------------------------------------------------------------


@quick
@given(worlds("any"), st.sampled_from([0.05, 0.3, 0.5]))
def test_pop_purifies_by_the_mean_of_the_last_five_epochs(world, theta):
    logits, excluded, _ = world
    labels, q = labels_of(excluded, logits), len(logits[0])
    method = ready("pop", labels, warm_up=10, theta=theta, growth=0.5)
    remembered = []
    for epoch in range(10):
        C = [
            slow_over_candidates([v * (epoch - 4) / 3 for v in f], candidates_of(ks, q))
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
        assert method.confidence[i].tolist() == pytest.approx(expected, **close)
    grown = theta * 1.5 if n_removed < 1e-4 * len(logits) * q and theta < 0.4 else theta
    assert method.theta_now.item() == pytest.approx(grown, rel=1e-6)
