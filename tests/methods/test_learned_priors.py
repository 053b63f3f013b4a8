"""Learned priors: shrunk toward candidate shares, and kept within the limits that labels allow."""

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, labels_of, quick, random_problems
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.learned_priors import PriorRegularizer, clip_priors
from scarce.priors.estimate import to_simplex
from scarce.simulate import ask, scar
from scarce.testing import three_blobs
from scarce.training import Recipe, train


def test_clip_priors_matches_hand_computed_values():
    """The excess of 0.2 goes to the other classes in proportion, 0.3 : 0.1, and the second stops at 0.4."""
    found = clip_priors(double([0.6, 0.3, 0.1]), double([0.4, 0.4, 0.9]))
    assert found.tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_clip_priors_returns_feasible_priors_unchanged():
    priors = double([0.5, 0.3, 0.2])
    assert clip_priors(priors, double([0.5, 0.9, 0.2])) is priors


@quick
@given(seed=st.integers(0, 2**32 - 1), q=st.integers(2, 7))
def test_clip_priors_equals_projection_to_simplex(seed, q):
    rng = np.random.default_rng(seed)
    limits, raw = rng.uniform(0.05, 1, q), rng.dirichlet(np.full(q, 0.5)) + 1e-3
    limits = limits / min(limits.sum(), 1.0)
    raw = raw / raw.sum()
    found = clip_priors(double(raw.tolist()), double(limits.tolist())).numpy()
    assert found.sum() == pytest.approx(1)
    assert (found <= limits + 1e-8).all()
    np.testing.assert_allclose(found, to_simplex(raw, 1 - limits, floor=1e-9), atol=1e-7)


def test_clip_priors_raises_limits_that_sum_below_one():
    assert clip_priors(double([0.9, 0.1]), double([0.3, 0.3])).tolist() == pytest.approx([0.5, 0.5])


def test_learned_priors_shrink_to_candidate_shares():
    """Of four examples two may be b or c, one only c, one any. Two classes are left on average, so s = 5 (2 − 1)²."""
    labels = ComplementaryLabels.from_lists([[0], [0], [0, 1], []], classes=3)
    shares = [1 / 12, 4 / 12, 7 / 12]
    regularizer = PriorRegularizer.from_labels(labels)
    assert regularizer.candidate_shares.tolist() == pytest.approx(shares)
    mean = [0.5, 0.5, 0.0]
    expected = [(4 * m + 5 * a) / 9 for m, a in zip(mean, shares, strict=True)]
    assert regularizer.shrink(double(mean)).tolist() == pytest.approx(expected)


def test_learned_priors_have_zero_weight_where_all_classes_are_known():
    labels = ComplementaryLabels([0, 2, 2], [0, 1], [0, 1, 2], confirmed=np.array([-1, 0]))
    assert PriorRegularizer.from_labels(labels).weight == 0


def test_learned_priors_allow_for_known_error_rates():
    """Half of the examples exclude a; with an error rate of 0.2, up to 0.5 / 0.8 of all are a."""
    labels = ComplementaryLabels.from_lists([[0], [0], [], []], classes=3)
    found = PriorRegularizer.from_labels(labels).clip(double([0.8, 0.1, 0.1]), double([0.2, 0.0, 0.0]))
    assert found.tolist() == pytest.approx([0.625, 0.1875, 0.1875])


@quick
@given(random_problems(sizes="any"))
def test_scar_likelihood_keeps_priors_within_limits(problem):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    method = make_method("scar-likelihood")
    method.prepare(Problem(labels))
    method.double()
    for sharpness in (1.0, 30.0, -30.0):  # unsure, certain, and certain of the opposite
        method.loss(sharpness * double(logits), batch_of(labels))
        method.after_step(nn.Identity(), batch_of(labels))
        assert method.priors.sum().item() == pytest.approx(1)
        assert (method.priors.numpy() <= 1 - labels.rates + 1e-8).all()


@pytest.mark.parametrize("name", ["scar-likelihood", "refine", "answers"])
def test_training_on_few_rows_keeps_priors_within_limits(name):
    X, y, _ = three_blobs(60)
    labels = ask(y, questions=2, seed=0) if name == "answers" else scar(y, c=[0.2, 0.5, 0.7], seed=0)
    torch.manual_seed(0)
    method, model = make_method(name), nn.Linear(2, 3)
    history = train(model, method, X, labels, Recipe(epochs=30, batch_size=10, learning_rate=0.3))
    for priors in history["priors"]:
        assert sum(priors) == pytest.approx(1, abs=1e-5)
    if name == "scar-likelihood":
        assert (np.array(history["priors"]) <= 1 - labels.rates + 1e-6).all()
