"""Priors that are learned: drawn towards the candidate shares, and never beyond what the labels allow."""

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, labels_of, quick, random_problems
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.learned_priors import LearnedPriors, within_limits
from scarce.priors.simplex import to_simplex
from scarce.simulate import ask, scar
from scarce.testing import three_blobs
from scarce.training import Recipe, train


def test_limits_by_hand():
    """0.2 too much at the first class; the others get it in proportion, 0.3 : 0.1, and the second stops at 0.4."""
    found = within_limits(double([0.6, 0.3, 0.1]), double([0.4, 0.4, 0.9]))
    assert found.tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_priors_within_the_limits_are_left_alone():
    priors = double([0.5, 0.3, 0.2])
    assert within_limits(priors, double([0.5, 0.9, 0.2])) is priors


@quick
@given(seed=st.integers(0, 2**32 - 1), q=st.integers(2, 7))
def test_limits_are_kept_as_by_the_projection_of_estimated_priors(seed, q):
    rng = np.random.default_rng(seed)
    limits, raw = rng.uniform(0.05, 1, q), rng.dirichlet(np.full(q, 0.5)) + 1e-3
    limits = limits / min(limits.sum(), 1.0)
    raw = raw / raw.sum()
    found = within_limits(double(raw.tolist()), double(limits.tolist())).numpy()
    assert found.sum() == pytest.approx(1)
    assert (found <= limits + 1e-8).all()
    np.testing.assert_allclose(found, to_simplex(raw, 1 - limits, floor=1e-9), atol=1e-7)


def test_limits_that_leave_less_than_one_are_raised():
    assert within_limits(double([0.9, 0.1]), double([0.3, 0.3])).tolist() == pytest.approx([0.5, 0.5])


def test_shares_count_for_five_true_classes():
    """Of four examples two may be b or c, one only c, one any. Two classes are left on average, so that s = 5 (2 − 1)²."""
    labels = ComplementaryLabels.from_lists([[0], [0], [0, 1], []], classes=3)
    shares = [1 / 12, 4 / 12, 7 / 12]
    known = LearnedPriors.of(labels)
    assert known.shares.tolist() == pytest.approx(shares)
    mean = [0.5, 0.5, 0.0]
    expected = [(4 * m + 5 * a) / 9 for m, a in zip(mean, shares, strict=True)]
    assert known.drawn(double(mean)).tolist() == pytest.approx(expected)


def test_where_nothing_is_open_there_is_nothing_to_draw_towards():
    labels = ComplementaryLabels([0, 2, 2], [0, 1], [0, 1, 2], confirmed=np.array([-1, 0]))
    assert LearnedPriors.of(labels).weight == 0


def test_examples_may_exclude_their_own_class_where_errors_are_known():
    """Half of the examples exclude a; if that is an error of a fifth, up to 0.5 / 0.8 are a."""
    labels = ComplementaryLabels.from_lists([[0], [0], [], []], classes=3)
    found = LearnedPriors.of(labels).allowed(double([0.8, 0.1, 0.1]), double([0.2, 0.0, 0.0]))
    assert found.tolist() == pytest.approx([0.625, 0.1875, 0.1875])


@quick
@given(random_problems(sizes="any"))
def test_priors_of_the_scar_likelihood_never_leave_what_labels_allow(problem):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    method = make_method("scar-likelihood")
    method.prepare(Problem(labels))
    method.double()
    for sharpness in (1.0, 30.0, -30.0):  # a network that is sure of itself, and of the opposite
        method.loss(sharpness * double(logits), batch_of(labels))
        method.after_step(nn.Identity(), batch_of(labels))
        assert method.priors.sum().item() == pytest.approx(1)
        assert (method.priors.numpy() <= 1 - labels.rates + 1e-8).all()


@pytest.mark.parametrize("name", ["scar-likelihood", "refine", "answers"])
def test_few_rows_believe_in_no_class_beyond_the_labels(name):
    X, y, _ = three_blobs(60)
    labels = ask(y, questions=2, seed=0) if name == "answers" else scar(y, c=[0.2, 0.5, 0.7], seed=0)
    torch.manual_seed(0)
    method, model = make_method(name), nn.Linear(2, 3)
    history = train(model, method, X, labels, Recipe(epochs=30, batch_size=10, learning_rate=0.3))
    for priors in history["priors"]:
        assert sum(priors) == pytest.approx(1, abs=1e-5)
    if name == "scar-likelihood":
        assert (np.array(history["priors"]) <= 1 - labels.rates + 1e-6).all()
