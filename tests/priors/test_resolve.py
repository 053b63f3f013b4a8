"""`resolve_priors`: priors that are given, named or estimated, and those that contradict the labels."""

import numpy as np
import pandas as pd
import pytest
from helpers.populations import labels_from_answer_counts

from scarce.errors import FeatureError, PriorError, PriorWarning
from scarce.labels import ComplementaryLabels
from scarce.priors import BestBin, resolve_priors
from scarce.simulate import ask, scar


def test_resolve_priors_recovers_priors_from_simulated_questions():
    truth = np.random.default_rng(0).choice(3, 20_000, p=[0.5, 0.3, 0.2])
    labels = ask(truth, questions=1, seed=0)
    assert resolve_priors("estimate", labels).values.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=0.02)


def test_resolve_priors_answers_rejects_labels_without_answers():
    with pytest.raises(PriorError, match="priors='answers' needs labels made from answers"):
        resolve_priors("answers", ComplementaryLabels.from_single([0, 1], classes=3))


def test_resolve_priors_without_any_yes_uses_candidate_shares():
    labels = labels_from_answer_counts(yes=[0, 0], no=[2, 3])
    with pytest.raises(PriorError, match="no answer is 'yes', so priors cannot be computed from the answers"):
        resolve_priors("answers", labels)
    with pytest.warns(
        PriorWarning,
        match="candidate shares are used as priors: too few of 5 examples exclude class a, b, or leave it",
    ):
        assert resolve_priors("estimate", labels).source == "candidate shares"


LABELS = ComplementaryLabels.from_single(["cat", "dog"] * 50, classes=["cat", "cow", "dog"])


@pytest.mark.parametrize(
    "priors",
    [
        [0.3, 0.2, 0.5],
        (0.3, 0.2, 0.5),
        np.array([0.3, 0.2, 0.5], np.float32),
        {"cat": 0.3, "cow": 0.2, "dog": 0.5},
        {"dog": 0.5, "cat": 0.3, "cow": 0.2},
    ],
)
def test_resolve_priors_accepts_sequences_and_mappings(priors):
    estimate = resolve_priors(priors, LABELS)
    assert estimate.values.tolist() == pytest.approx([0.3, 0.2, 0.5])
    assert estimate.source == "given"
    assert estimate.low is estimate.high is None


def test_resolve_priors_accepts_mapping_by_class_number():
    labels = ComplementaryLabels.from_single([0, 1] * 9, classes=2)
    assert resolve_priors({1: 0.6, 0: 0.4}, labels).values.tolist() == pytest.approx([0.4, 0.6])
    assert resolve_priors({"1": 0.6, "0": 0.4}, labels).values.tolist() == pytest.approx([0.4, 0.6])


def test_resolve_priors_normalizes_rounded_priors():
    estimate = resolve_priors([0.333, 0.333, 0.333], LABELS)
    assert estimate.values.tolist() == pytest.approx([1 / 3] * 3)
    assert estimate.raw.tolist() == [0.333] * 3


def test_resolve_priors_accepts_names():
    assert resolve_priors("uniform", LABELS).values.tolist() == [1 / 3] * 3
    with pytest.warns(
        PriorWarning,
        match=r"candidate shares are used as priors: too few of 100 examples exclude class cow, or leave it",
    ):
        guessed = resolve_priors("estimate", LABELS)
    assert (guessed.source, guessed.values.tolist()) == ("candidate shares", [0.25, 0.5, 0.25])
    answers = labels_from_answer_counts(yes=[3, 1], no=[3, 2])
    assert resolve_priors("estimate", answers).source == "answers"
    assert resolve_priors("uniform", answers).source == "uniform"
    assert resolve_priors("estimate", answers[[0, 3, 4, 7]]).source == "answers"


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        (
            "equal",
            "priors='equal' is unknown; expected 'estimate', 'uniform', 'answers', 3 numbers, a mapping by class, an .* best-bin",
        ),
        (
            [0.5, 0.4, 0.3],
            r"the priors sum to 1\.2; expected 1\. Divide them by their sum if they are counts",
        ),
        ([10, 20, 30], "the priors sum to 60; expected 1"),
        ([0.6, -0.1, 0.5], r"the prior of class cow is -0\.1; expected numbers of at least 0"),
        ([0.6, 0.4, np.nan], "the prior of class dog is nan"),
        ([0.6, 0.4, np.inf], "the prior of class dog is inf"),
        ([0.6, 0.4, None], "the prior of class dog is nan"),
        ([0.6, 0.4], r"priors has shape \(2,\); expected 3 numbers, one per class"),
        ([[0.6, 0.2, 0.2]], r"priors has shape \(1, 3\)"),
        (0.5, r"priors has shape \(\)"),
        (["a", "b", "c"], "expected 3 numbers"),
        ([0.5, [0.2], 0.3], "expected 3 numbers"),
        (object(), "expected 3 numbers"),
        (
            {"cat": 0.5, "dog": 0.5},
            "the mapping of priors lacks cow; expected one number for each of cat, cow, dog",
        ),
        ({"cat": 0.5, "cow": 0.2, "dog": 0.2, "emu": 0.1}, "names emu, which is not a class"),
        ({"cat": 0.5, "emu": 0.5}, "lacks cow, dog and names emu, which is not a class"),
        ({}, "lacks cat, cow, dog"),
        ({"cat": 0.5, "cow": "some", "dog": 0.2}, "expected 3 numbers"),
    ],
)
def test_resolve_priors_rejects_invalid_priors(priors, message):
    with pytest.raises(PriorError, match=message) as e:
        resolve_priors(priors, LABELS)
    assert "\n" not in str(e.value)


def test_resolve_priors_rejects_priors_that_contradict_labels():
    """cat is excluded by half of the examples, so at most half of them are cats."""
    with pytest.raises(
        PriorError,
        match=r"class cat is excluded by 0\.500 .*its prior 0\.800 leaves only 0\.200",
    ):
        resolve_priors([0.8, 0.1, 0.1], LABELS)


def test_resolve_priors_tolerates_excess_by_chance():
    """With 100 examples a rate of 0.5 is compatible with a prior of 0.6: two standard errors of 0.049."""
    assert resolve_priors([0.6, 0.2, 0.2], LABELS).values[0] == 0.6
    many = LABELS[np.tile(np.arange(100), 100)]
    with pytest.raises(PriorError, match=r"class cat is excluded by 0\.500"):
        resolve_priors([0.6, 0.2, 0.2], many)


def test_resolve_priors_rejects_excluded_class_with_prior_one():
    with pytest.raises(PriorError, match=r"class cat .*leaves only 0\.000"):
        resolve_priors([1.0, 0.0, 0.0], LABELS)
    quiet = ComplementaryLabels.from_single(["cow", "dog"], classes=["cat", "cow", "dog"])
    assert resolve_priors([1.0, 0.0, 0.0], quiet).values.tolist() == [1.0, 0.0, 0.0]


def test_resolve_priors_checks_uniform_priors():
    labels = ComplementaryLabels.from_single(["a"] * 200, classes=["a", "b"])
    with pytest.raises(
        PriorError, match=r"class a is excluded by 1\.000 .* its prior 0\.500 leaves only 0\.500"
    ):
        resolve_priors("uniform", labels)


def test_resolve_priors_reads_series_by_index():
    counted = pd.Series(["dog", "dog", "dog", "cat", "cow", "dog", "cat"]).value_counts(normalize=True)
    np.testing.assert_allclose(resolve_priors(counted, LABELS).values, [2 / 7, 1 / 7, 4 / 7])
    with pytest.raises(PriorError, match="lacks cat, cow, dog"):
        resolve_priors(pd.Series([0.2, 0.3, 0.5]), LABELS)


def test_resolve_priors_estimates_from_features():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.2, 0.3, 0.5])
    X, labels = 4 * np.eye(3)[y] + rng.normal(size=(300, 3)), scar(y, c=0.5, seed=0)
    estimator = BestBin(scorer="linear")
    found, estimated = resolve_priors(estimator, labels, X), estimator.estimate(X, labels)
    np.testing.assert_array_equal(found.values, estimated.values)
    np.testing.assert_array_equal(found.low, estimated.low)
    np.testing.assert_array_equal(resolve_priors(estimator, labels, X, check_input=False).raw, found.raw)
    with pytest.raises(FeatureError, match="X contains inf at row 0, column 0"):
        resolve_priors(estimator, labels, np.where(np.arange(3) == 0, np.inf, X))
    with pytest.raises(FeatureError, match="X has 299 rows and the labels have 300"):
        resolve_priors(estimator, labels, X[1:])
    with pytest.raises(PriorError, match="X is missing, and these priors are estimated from features"):
        resolve_priors(estimator, labels)
