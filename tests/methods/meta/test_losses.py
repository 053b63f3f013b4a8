"""Losses of the PU learners against slow loops, on random batches with classes that no row excludes."""

from math import cos, exp, log, pi

import numpy as np
import pytest
import torch
from helpers.methods import double, sigmoid
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.methods.meta.cvir import cvir_kept
from scarce.methods.meta.dist_pu import binary_entropy, dist_pu_losses, entropy_weight, mixed_losses
from scarce.methods.meta.elkan_noto import elkan_noto_losses, label_frequency
from scarce.methods.meta.nnpu import nnpu_losses
from scarce.methods.meta.pusb import pusb_thresholds
from scarce.methods.meta.upu import pu_risks
from scarce.methods.meta.vpu import vpu_losses, vpu_mixup_losses
from scarce.risk.binary_losses import balanced_logistic_losses

quick = settings(max_examples=40, deadline=None)


def mean(values):
    values = list(values)
    return sum(values) / max(1, len(values))


@st.composite
def random_problems(draw):
    """Scores, exclusions, proportions, and which rows are unlabeled."""
    n, q = draw(st.integers(1, 8)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    excluded = (rng.random((n, q)) < rng.choice([0.0, 0.3, 0.6, 1.0], q)).astype(int)
    proportion = rng.uniform(0.05, 0.95, q)
    unlabeled = draw(st.sampled_from(["all", "rest"]))
    return rng.uniform(-4, 4, (n, q)).tolist(), excluded.tolist(), proportion.tolist(), unlabeled


def slow_per_class(problem, one):
    """`one(positives, others, θ)` of every class, from the scores of excluded and unlabeled rows."""
    g, excluded, proportion, unlabeled = problem
    result = []
    for k in range(len(proportion)):
        positives = [row[k] for row, labels in zip(g, excluded, strict=True) if labels[k]]
        others = [
            row[k] for row, labels in zip(g, excluded, strict=True) if unlabeled == "all" or not labels[k]
        ]
        result.append(one(positives, others, proportion[k]))
    return result


def close(values):
    return pytest.approx(values, abs=1e-9)


@quick
@given(random_problems(), st.sampled_from([0.0, 0.3]), st.sampled_from([1.0, 0.5]))
def test_upu_and_nnpu_losses_equal_slow_loop(problem, beta, gamma):
    def parts(positives, others, proportion):
        plus = proportion * mean(sigmoid(-z) for z in positives)
        return plus, mean(sigmoid(z) for z in others) - proportion * mean(sigmoid(z) for z in positives)

    def nnpu(*sets):
        plus, minus = parts(*sets)
        return plus + minus if minus >= -beta else -gamma * minus

    g, excluded, proportion, unlabeled = problem
    arguments = double(g), double(excluded), double(proportion)
    losses = pu_risks(*arguments, loss="sigmoid", unlabeled=unlabeled).total
    assert losses.tolist() == close(slow_per_class(problem, lambda *sets: sum(parts(*sets))))
    losses = nnpu_losses(*arguments, loss="sigmoid", beta=beta, gamma=gamma, unlabeled=unlabeled)
    assert losses.tolist() == close(slow_per_class(problem, nnpu))


@quick
@given(random_problems())
def test_vpu_losses_equal_slow_loop(problem):
    def one(positives, others, proportion):
        if not positives or not others:
            return 0.0
        return log(mean(sigmoid(z) for z in others)) - mean(log(sigmoid(z)) for z in positives)

    g = double(problem[0]).requires_grad_(True)
    losses = vpu_losses(g, double(problem[1]), unlabeled=problem[3])
    assert losses.tolist() == close(slow_per_class(problem, one))
    losses.sum().backward()
    assert g.grad.isfinite().all()


@quick
@given(random_problems(), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_vpu_mixup_losses_equal_slow_loop(problem, weight):
    g, pairs, _, _ = problem
    mixed = [[-z / 2 for z in row] for row in g]
    expected = [
        mean(
            (log(weight * sigmoid(g[i][k]) + 1 - weight) - log(sigmoid(mixed[i][k]))) ** 2
            for i in range(len(g))
            if pairs[i][k]
        )
        for k in range(len(g[0]))
    ]
    scores = double(g).requires_grad_(True)
    losses = vpu_mixup_losses(scores, double(mixed), double(pairs), weight)
    assert losses.tolist() == close(expected)
    losses.sum().backward()
    assert scores.grad.isfinite().all()
    moves = (scores.grad != 0) == ((double(pairs) == 1) & (weight > 0))
    assert moves.all()  # the target is also trained


def entropy(p):
    return -p * log(p) - (1 - p) * log(1 - p)


@quick
@given(random_problems(), st.sampled_from([0.0, 0.1]))
def test_dist_pu_losses_equal_slow_loop(problem, mu):
    def one(positives, others, proportion):
        first = abs(mean(sigmoid(z) for z in positives) - 1) if positives else 0.0
        second = abs(mean(sigmoid(z) for z in others) - proportion) / (2 * proportion)
        return first + second + mu * mean(entropy(sigmoid(z)) for z in others)

    g, excluded, proportion, unlabeled = problem
    losses = dist_pu_losses(double(g), double(excluded), double(proportion), mu=mu, unlabeled=unlabeled)
    assert losses.tolist() == close(slow_per_class(problem, one))


def test_binary_entropy_is_constant_beyond_ten():
    assert binary_entropy(double([10.0, 80.0, -80.0])).tolist() == close([entropy(sigmoid(10))] * 3)


def test_mixed_losses_equal_losses_of_both_targets():
    score, a, b, weight = 0.7, 0.9, 0.2, 0.3
    p = sigmoid(score)
    crosses = [-t * log(p) - (1 - t) * log(1 - p) for t in (a, b)]
    expected = weight * crosses[0] + (1 - weight) * crosses[1]
    target = double([[weight * a + (1 - weight) * b]])
    assert mixed_losses(double([[score]]), target).item() == close(expected)


def test_entropy_weight_follows_quarter_cosine():
    assert [entropy_weight(t, 4) for t in (0, 2, 4, 9)] == close([0, 0.004 * (1 - cos(pi / 4)), 0.004, 0.004])


@quick
@given(random_problems())
def test_elkan_noto_losses_equal_slow_loop(problem):
    g, excluded, _, _ = problem
    expected = [
        mean(-log(sigmoid(row[k] if labels[k] else -row[k])) for row, labels in zip(g, excluded, strict=True))
        for k in range(len(g[0]))
    ]
    assert elkan_noto_losses(double(g), double(excluded)).tolist() == close(expected)
    expected = slow_per_class(problem, lambda positives, others, proportion: mean(map(sigmoid, positives)))
    assert label_frequency(double(g), double(excluded)).tolist() == close(expected)


@quick
@given(random_problems())
def test_cvir_kept_drops_highest_unlabeled_rows(problem):
    g, excluded, proportion, unlabeled = problem
    kept = cvir_kept(double(g), double(excluded), double(proportion), unlabeled=unlabeled)
    for k in range(len(proportion)):
        rows = [i for i in range(len(g)) if unlabeled == "all" or not excluded[i][k]]
        by_score = sorted(rows, key=lambda i: g[i][k])
        expected = by_score[: len(rows) - int(proportion[k] * len(rows))]
        assert sorted(kept[:, k].nonzero().flatten().tolist()) == sorted(expected)


@quick
@given(random_problems())
def test_balanced_logistic_losses_of_kept_rows_equal_slow_loop(problem):
    g, excluded, proportion, unlabeled = problem
    kept = cvir_kept(double(g), double(excluded), double(proportion), unlabeled=unlabeled)

    expected = []
    for k in range(len(proportion)):
        positives = [log(1 + exp(-g[i][k])) for i in range(len(g)) if excluded[i][k]]
        negatives = [log(1 + exp(g[i][k])) for i in range(len(g)) if kept[i, k]]
        expected.append(mean(positives) / 2 + mean(negatives) / 2 if positives and negatives else 0.0)
    losses = balanced_logistic_losses(double(g), double(excluded), kept.double())
    assert losses.tolist() == close(expected)


@quick
@given(st.integers(1, 30), st.floats(0, 1), st.integers(0, 1000))
def test_pusb_thresholds_give_expected_fraction_of_not_k(n, prior, seed):
    g = torch.randn(n, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    called = int((g >= pusb_thresholds(g, double([prior]))).sum())
    assert called == max(1, n - int(n * prior))


def test_losses_of_extreme_scores_are_finite():
    excluded = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    proportion = torch.tensor([0.5, 0.9, 0.0])
    calls = [
        lambda g: pu_risks(g, excluded, proportion).total,
        lambda g: nnpu_losses(g, excluded, proportion),
        lambda g: vpu_losses(g, excluded),
        lambda g: vpu_losses(g, excluded, unlabeled="rest"),
        lambda g: vpu_mixup_losses(g, -g, excluded, 0.5),
        lambda g: dist_pu_losses(g, excluded, proportion),
        lambda g: elkan_noto_losses(g, excluded),
        lambda g: balanced_logistic_losses(g, excluded, cvir_kept(g, excluded, proportion).to(g)),
    ]
    for call in calls:
        g = torch.tensor([[-80.0, 80.0, 60.0], [80.0, -80.0, -60.0]], requires_grad=True)
        losses = call(g)
        losses.sum().backward()
        assert losses.isfinite().all()
        assert g.grad.isfinite().all()
