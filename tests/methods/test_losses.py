"""Losses of the compared methods against slow loops over rows, classes and labels."""

from math import exp, log

import pytest
from helpers.methods import (
    CLOSE,
    MULTIPLE_LABEL_METHODS,
    PAIR_METHODS,
    SINGLE_LABEL_METHODS,
    double,
    labels_of,
    loss_of,
    mean,
    prepared_method,
    quick,
    random_problems,
    sigmoid,
    softmax,
)
from hypothesis import assume, given
from hypothesis import strategies as st

# Pairs of a row and an excluded class ------------------------------------------------------------------------


def slow_pc(f, k, T):
    q = len(f)
    return (q - 1) * sum(sigmoid(f[k] - f[j]) for j in range(q) if j != k) - (q - 1) * (q - 2) / 2


def slow_l_uw(f, k, T):
    return -log(softmax([1 - p for p in softmax(f)])[k])


def slow_l_w(f, k, T):
    rest = [1 - p for p in softmax(f)]
    return (1 + rest[k] / sum(rest)) * slow_l_uw(f, k, T)


def slow_op(f, k, T):
    return -log(softmax([-v for v in f])[k])


def slow_op_w(f, k, T):
    r = softmax([-v for v in f])
    weight = softmax(f)[k] * softmax([1 / v for v in r])[k] + 1e-6
    return -weight * log(r[k])


def slow_forward(f, k, T):
    return -log(sum(p * T[j][k] for j, p in enumerate(softmax(f))))


def slow_cpe_t(f, k, T):
    rows = [[t + 1e-3 for t in row] for row in T]
    return slow_forward(f, k, [[t / sum(row) for t in row] for row in rows])


SLOW_PAIRS = {
    "pc": slow_pc,
    "l-uw": slow_l_uw,
    "l-w": slow_l_w,
    "op": slow_op,
    "op-w": slow_op_w,
    "forward": slow_forward,
    "scl-nl": lambda f, k, T: -log(1 - softmax(f)[k]),
    "scl-exp": lambda f, k, T: exp(softmax(f)[k]),
    "cpe-i": lambda f, k, T: -log(softmax(f)[k]),
    "cpe-f": slow_forward,
    "cpe-t": slow_cpe_t,
}


def slow_pair_mean(name, logits, excluded, T):
    return mean([SLOW_PAIRS[name](logits[i], k, T) for i, ks in enumerate(excluded) for k in ks])


@pytest.mark.parametrize("name", PAIR_METHODS)
@quick
@given(random_problems("single"))
def test_pair_losses_of_single_labels_equal_slow_loop(name, problem):
    logits, excluded, T = problem
    method = prepared_method(name, labels_of(excluded, logits), T)
    assert loss_of(method, logits, labels_of(excluded, logits)) == pytest.approx(
        slow_pair_mean(name, logits, excluded, T), **CLOSE
    )


@pytest.mark.parametrize("name", PAIR_METHODS)
@quick
@given(random_problems("any"))
def test_pair_losses_of_several_labels_equal_mean_over_pairs(name, problem):
    logits, excluded, T = problem
    method = prepared_method(name, labels_of(excluded, logits), T, pairs=True)
    assert loss_of(method, logits, labels_of(excluded, logits)) == pytest.approx(
        slow_pair_mean(name, logits, excluded, T), **CLOSE
    )


@pytest.mark.parametrize(("variant", "scaled", "shift"), [("official", True, 0.5), ("plain", False, 0.0)])
@quick
@given(random_problems("some"))
def test_pc_variants_equal_slow_loop(variant, scaled, shift, problem):
    """The official code also sums over j = k; the plain form has neither factor nor constant."""
    logits, excluded, _ = problem
    q = len(logits[0])
    pairs = [
        sum(sigmoid(logits[i][k] - logits[i][j]) for j in range(q) if scaled or j != k)
        for i, ks in enumerate(excluded)
        for k in ks
    ]
    expected = (q - 1) * mean(pairs) - (q - 1) * (q - 2) / 2 if scaled else mean(pairs)
    labels = labels_of(excluded, logits)
    method = prepared_method("pc", labels, variant=variant, pairs=True)
    assert loss_of(method, logits, labels) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("name", ["cpe-i", "cpe-f", "cpe-t"])
@quick
@given(random_problems("single"))
def test_cpe_scores_equal_distances_to_matrix_rows(name, problem):
    logits, excluded, T = problem
    method = prepared_method(name, labels_of(excluded, logits), T)
    if name == "cpe-t":
        T = [[(t + 1e-3) / (1 + 1e-3 * len(T)) for t in row] for row in T]
    q = len(T)
    for f, scores in zip(logits, method.scores(double(logits)).tolist(), strict=True):
        p = softmax(f)
        bar = p if name == "cpe-i" else [sum(p[j] * T[j][k] for j in range(q)) for k in range(q)]
        distances = [sum(abs(bar[k] - T[y][k]) for k in range(q)) for y in range(q)]
        assert scores == pytest.approx([-d for d in distances], **CLOSE)


# The unbiased risk of uniform single labels ------------------------------------------------------------------


def slow_class_risks(logits, excluded, frequencies):
    q = len(logits[0])
    m = [[0.0] * q for _ in range(q)]
    for g in range(q):
        group = [softmax(f) for f, ks in zip(logits, excluded, strict=True) if g in ks]
        for j in range(q):
            m[g][j] = mean([-log(p[j]) for p in group]) if group else 0.0
    return [
        sum(frequencies[g] * m[g][j] for g in range(q)) - (q - 1) * frequencies[j] * m[j][j] for j in range(q)
    ]


def slow_ga(risks, counts, ascent, beta, gamma):
    monitored = [n * v for n, v in zip(counts, risks, strict=True)] if ascent == "counted" else risks
    violated = [w for w in monitored if w < -beta]
    return -gamma * sum(w + beta for w in violated) if violated else sum(risks)


@quick
@given(
    problem=random_problems("any"),
    beta=st.sampled_from([0.0, 0.2]),
    gamma=st.sampled_from([1.0, 0.3]),
    keep=st.integers(1, 7),
)
def test_free_nn_and_ga_equal_slow_loop(problem, beta, gamma, keep):
    """The label frequencies are those of the whole data; the means are those of the batch, which may hold only some rows."""
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    all_labels = [k for ks in excluded for k in ks]
    frequencies = [all_labels.count(k) / len(all_labels) for k in range(q)]
    rows = list(range(min(keep, len(logits))))
    logits, excluded = logits[: len(rows)], excluded[: len(rows)]
    risks = slow_class_risks(logits, excluded, frequencies)
    assume(all(abs(v + beta) > 1e-9 for v in risks))  # at its threshold, ga would depend on rounding
    counts = [sum(k in ks for ks in excluded) for k in range(q)]

    def loss(name, **params):
        return loss_of(prepared_method(name, labels, pairs=True, **params), logits, labels, rows=rows)

    assert loss("free") == pytest.approx(sum(risks), **CLOSE)
    assert loss("nn", beta=beta) == pytest.approx(sum(max(v, -beta) for v in risks), **CLOSE)
    for ascent in ("counted", "plain"):
        expected = slow_ga(risks, counts, ascent, beta, gamma)
        assert loss("ga", ascent=ascent, beta=beta, gamma=gamma) == pytest.approx(expected, **CLOSE)


# Sets of labels ----------------------------------------------------------------------------------------------


def slow_phuber(p, j):
    return -log(p[j]) if p[j] > 0.1 else log(10) + 1 - 10 * p[j]


SLOW_MULTICLASS = {
    "mae": lambda p, j: sum(abs(v - (i == j)) for i, v in enumerate(p)),
    "mse": lambda p, j: sum((v - (i == j)) ** 2 for i, v in enumerate(p)),
    "gce": lambda p, j: (1 - p[j] ** 0.7) / 0.7,
    "phuber-ce": slow_phuber,
}


def slow_multiple_label_loss(name, f, ks):
    p, q, s = softmax(f), len(f), len(ks)
    possible = sum(p[j] for j in range(q) if j not in ks)
    if name == "exp":
        return (q - 1) / s * exp(-possible)
    if name == "log":
        return -(q - 1) / s * log(possible)
    L = SLOW_MULTICLASS[name]
    outside = sum(L(p, j) for j in range(q) if j not in ks)
    return outside - (q - 1 - s) / s * sum(L(p, j) for j in ks)


@pytest.mark.parametrize("name", MULTIPLE_LABEL_METHODS)
@quick
@given(random_problems("any"))
def test_multiple_label_losses_equal_slow_loop(name, problem):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    expected = mean(
        [slow_multiple_label_loss(name, f, ks) for f, ks in zip(logits, excluded, strict=True) if ks]
    )
    assert loss_of(prepared_method(name, labels), logits, labels) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("name", [*SINGLE_LABEL_METHODS, *MULTIPLE_LABEL_METHODS])
@quick
@given(random_problems("any"))
def test_unlabeled_rows_do_not_change_loss_of_others(name, problem):
    logits, excluded, T = problem
    params = {"pairs": True} if name in SINGLE_LABEL_METHODS else {}
    all_rows = labels_of(excluded, logits)
    labeled = [i for i, ks in enumerate(excluded) if ks]
    labeled_rows = all_rows[labeled]
    if name == "ga":
        all_labels = [k for ks in excluded for k in ks]
        frequencies = [all_labels.count(k) / len(all_labels) for k in range(len(logits[0]))]
        risks = slow_class_risks(logits, excluded, frequencies)
        assume(all(abs(v) > 1e-9 for v in risks))  # at its threshold, ga would depend on rounding
    expected = loss_of(
        prepared_method(name, labeled_rows, T, **params), [logits[i] for i in labeled], labeled_rows
    )
    assert loss_of(prepared_method(name, all_rows, T, **params), logits, all_rows) == pytest.approx(
        expected, **CLOSE
    )
