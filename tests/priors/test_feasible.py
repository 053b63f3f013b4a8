"""Feasible priors, used with one warning if priors cannot be estimated or the estimate contradicts the labels."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce import ComplementaryLabels, MetaComplementaryClassifier, ScarceClassifier
from scarce.errors import PriorError, PriorWarning
from scarce.methods import available_methods, make_method
from scarce.priors import BestBin, PriorEstimate, candidate_shares, feasible_priors, resolve_priors


def candidate_sets(n=240, q=16, seed=0):
    """Realistic candidate sets: the true class and common companions; the last class is rare."""
    rng = np.random.default_rng(seed)
    shares = np.r_[0.4, np.full(q - 2, 0.592 / (q - 2)), 0.008]
    y = np.r_[q - 1, q - 1, rng.choice(q, n - 2, p=shares)]
    sets = rng.random((n, q)) < np.r_[0.5, np.full(q - 2, 0.08), 0.0]
    sets[np.arange(n), y] = True
    X = 2 * np.eye(q)[y] + rng.normal(size=(n, q))
    return X, y, ComplementaryLabels.from_candidates(sets)


def test_candidate_shares_match_values_by_hand():
    """Candidates {a, b}, {c}, {a, b, c, d} and, confirmed, {b}: a has (1/2 + 0 + 1/4 + 0) / 4."""
    labels = ComplementaryLabels.from_lists([["c", "d"], ["a", "b", "d"], [], []], classes=list("abcd"))
    labels = ComplementaryLabels(
        labels.indptr, labels.indices, labels.classes, confirmed=np.array([-1, -1, -1, 1], np.int32)
    )
    assert candidate_shares(labels).tolist() == [3 / 16, 7 / 16, 5 / 16, 1 / 16]


def test_feasible_priors_are_clipped_at_one_minus_rates():
    """Only one of ten examples can be a, so the feasible priors are 0.1, 0.45, 0.45."""
    labels = ComplementaryLabels.from_candidates([[1, 0, 0]] + [[0, 1, 1]] * 9)
    assert feasible_priors(labels).values.tolist() == pytest.approx([0.1, 0.45, 0.45])
    assert feasible_priors(labels).source == "candidate shares"


def test_feasible_priors_are_zero_for_impossible_class():
    labels = ComplementaryLabels.from_candidates([[1, 1, 0], [0, 1, 0], [1, 1, 0]])
    assert feasible_priors(labels).values.tolist() == pytest.approx([1 / 3, 2 / 3, 0])


@given(st.integers(2, 23), st.integers(1, 40), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_feasible_priors_respect_rates_of_any_labels(q, n, seed):
    rng = np.random.default_rng(seed)
    sets = rng.random((n, q)) < rng.random(q)
    sets[np.arange(n), rng.integers(q, size=n)] = True
    labels = ComplementaryLabels.from_candidates(sets)
    slow = np.mean([row / row.sum() for row in sets], axis=0)
    np.testing.assert_allclose(candidate_shares(labels), slow, atol=1e-12)
    values = feasible_priors(labels).values
    assert values.sum() == pytest.approx(1)
    assert (values <= 1 - labels.rates + 1e-8).all()
    assert (values >= 0).all()


def test_resolve_priors_clips_contradicted_estimate_with_one_warning():
    """Half of 200 examples exclude a, so at most half are a; b and c share the excess."""
    labels = ComplementaryLabels.from_single(["a"] * 100 + ["b", "c"] * 50, classes=list("abc"))

    class Guess(BestBin):
        def estimate(self, X, labels, **settings):
            return PriorEstimate(np.array([0.8, 0.1, 0.1]), "guess", np.array([0.8, 0.1, 0.1]))

    with pytest.warns(PriorWarning, match="clipped to what the labels allow: class a is excluded") as caught:
        found = resolve_priors(Guess(), labels, np.zeros((200, 2)))
    assert len(caught) == 1
    assert found.values.tolist() == pytest.approx([0.5, 0.25, 0.25])
    with pytest.raises(PriorError, match=r"class a is excluded by 0\.500"):
        resolve_priors([0.8, 0.1, 0.1], labels)


def test_resolve_priors_rejects_uniform_for_candidate_sets():
    _, _, labels = candidate_sets(n=1200)
    assert labels.rates.max() > 0.95
    with pytest.raises(PriorError, match="class 15 is excluded by"):
        resolve_priors("uniform", labels)


@pytest.mark.slow
@pytest.mark.parametrize("q", [16, 23])
@pytest.mark.parametrize(
    "method", [name for name in available_methods() if "multiple" in make_method(name).facts.accepts]
)
def test_multiple_label_methods_learn_from_candidate_sets(method, q):
    if make_method(method).facts.needs_answers:
        pytest.skip("needs a record of questions")
    X, _, labels = candidate_sets(q=q)
    facts = make_method(method).facts
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier = ScarceClassifier(method, module="linear", epochs=1).fit(X, labels)
    assert len(caught) == facts.needs_priors
    assert classifier.prior_estimate_.source == (
        f"learned by {method}" if facts.learns_priors else "candidate shares"
    )
    assert np.isfinite(classifier.report(X, labels).accuracy.value)


def test_early_stopping_without_priors_uses_candidate_shares():
    X, _, labels = candidate_sets()
    classifier = ScarceClassifier("cc", module="linear", epochs=2, early_stopping=True).fit(X, labels)
    assert classifier.prior_estimate_.source == "candidate shares"
    assert len(classifier.history_["validation_accuracy"]) == 2


def test_meta_classifier_learns_from_candidate_sets():
    X, y, labels = candidate_sets()
    with pytest.warns(PriorWarning, match="too few of 240 examples exclude class 15") as caught:
        classifier = MetaComplementaryClassifier().fit(X, labels)
    assert len(caught) == 1
    assert classifier.score(X, y) > 0.4
