"""Accuracy from complementary labels against values by hand, slow loops, a whole population and many draws."""

from itertools import product

import numpy as np
import pytest
from helpers.populations import (
    ACCURACY,
    CONFUSION,
    EXCLUSION_PROBABILITIES,
    LABEL_KINDS,
    PRIORS,
    Q,
    draw_labeled_predictions,
    draw_predictions,
    every_outcome,
    whole_population,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from scarce.errors import FeatureError, LabelError, MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.metrics import ErrorRates, complementary_accuracy, fit_label_model


def test_complementary_accuracy_matches_value_by_hand():
    """Rows 0, 2, 4 exclude 0, one is predicted 0; rows 1, 2 exclude 1, none is predicted 1; row 3 excludes 2 and is predicted 2."""
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1], [2], [0], []], classes=3)
    estimate = complementary_accuracy([0, 2, 2, 2, 1, 0], labels, [0.5, 0.3, 0.2])
    assert estimate.value == pytest.approx(1 - 0.5 * (1 / 3) - 0.8 * 1)
    assert estimate.unseen == ()
    assert estimate.level == 0.95


@st.composite
def cases(draw):
    n, q = draw(st.integers(1, 30)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    excluded = rng.random((n, q)) < draw(st.sampled_from([0.1, 0.4, 0.8]))
    excluded[np.arange(n), rng.integers(0, q, n)] = False
    weights = rng.random(q) + 0.1
    return rng.integers(0, q, n), excluded, weights / weights.sum()


def slow(predicted, excluded, priors):
    """Value and standard error, class by class and row by row."""
    n, q = excluded.shape
    value, influence = 1.0, [0.0] * n
    for k in range(q):
        rows = [i for i in range(n) if excluded[i, k]]
        if not rows:
            continue
        rate = sum(predicted[i] == k for i in rows) / len(rows)
        value -= (1 - priors[k]) * rate
        for i in rows:
            influence[i] -= (1 - priors[k]) * ((predicted[i] == k) - rate) / len(rows)
    return value, sum(x * x for x in influence) ** 0.5


@given(cases())
def test_complementary_accuracy_equals_slow_loop(case):
    predicted, excluded, priors = case
    estimate = complementary_accuracy(predicted, ComplementaryLabels.from_indicator(excluded), priors)
    value, error = slow(predicted, excluded, priors)
    assert estimate.value == pytest.approx(value, abs=1e-12)
    assert estimate.standard_error == pytest.approx(error, abs=1e-12)
    assert 0 <= estimate.low <= estimate.high <= 1
    assert estimate.low <= max(0, min(1, estimate.value)) <= estimate.high


@given(st.integers(0, 10**6), st.integers(5, 60))
def test_standard_error_of_single_labels_equals_formula(seed, n):
    rng = np.random.default_rng(seed)
    predicted, labels = draw_labeled_predictions(rng, n, "single")
    total = 0.0
    for k in range(Q):
        rows = labels.indicator()[:, k]
        if rows.any():
            a = (predicted[rows] == k).mean()
            total += (1 - PRIORS[k]) ** 2 * a * (1 - a) / rows.sum()
    assert complementary_accuracy(predicted, labels, PRIORS).standard_error == pytest.approx(
        total**0.5, abs=1e-12
    )


def test_complementary_accuracy_of_population_is_exact():
    predicted, labels = whole_population()
    assert complementary_accuracy(predicted, labels, PRIORS).value == pytest.approx(ACCURACY, abs=1e-12)


def test_complementary_accuracy_is_unbiased_except_for_unseen_classes():
    """List all pairs of rows. E[a_k | n_k ≥ 1] = p(k | k excluded) exactly; where n_k = 0, a_k counts as 0."""
    outcomes = [(predicted, excluded, chance) for _, predicted, excluded, chance in every_outcome()]
    average = 0.0
    for one, other in product(outcomes, repeat=2):
        labels = ComplementaryLabels.from_indicator(np.stack([one[1], other[1]]))
        average += one[2] * other[2] * complementary_accuracy([one[0], other[0]], labels, PRIORS).value
    wrongly = (PRIORS @ CONFUSION - PRIORS * CONFUSION.diagonal()) / (1 - PRIORS)  # p(predicted k | y ≠ k)
    never = (1 - EXCLUSION_PROBABILITIES * (1 - PRIORS)) ** 2
    assert average == pytest.approx(ACCURACY + ((1 - PRIORS) * wrongly * never).sum(), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["single", "multiple"])
def test_standard_error_equals_deviation_over_many_samples(kind):
    rng = np.random.default_rng(0)
    estimates = [
        complementary_accuracy(*draw_labeled_predictions(rng, 400, kind), PRIORS) for _ in range(1500)
    ]
    values = np.array([estimate.value for estimate in estimates])
    errors = np.array([estimate.standard_error for estimate in estimates])
    assert values.mean() == pytest.approx(ACCURACY, abs=4 * values.std() / np.sqrt(1500))
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(), rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    ("kind", "n"), [("single", 40), ("single", 300), ("multiple", 300), ("single", 3000)]
)
def test_interval_has_nominal_coverage(kind, n, level):
    rng = np.random.default_rng(1)
    estimates = [
        complementary_accuracy(*draw_labeled_predictions(rng, n, kind), PRIORS, level=level)
        for _ in range(600)
    ]
    covered = np.mean([estimate.low <= ACCURACY <= estimate.high for estimate in estimates])
    assert covered > level - 0.03
    # The intervals are not too wide either, although the upper bound counts one more error than observed.
    if kind == "single" and n >= 300:
        assert covered < level + (0.03 if n == 3000 else 0.06)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_lower_bound_without_errors_is_poisson(level):
    """No observed error allows χ²(2)/2 = −log((1 − level) / 2) expected ones of the largest weight, 0.8 / 5."""
    labels = ComplementaryLabels.from_single([0, 1, 2] * 5, classes=3)
    estimate = complementary_accuracy([1, 2, 0] * 5, labels, [0.2, 0.3, 0.5], level=level)
    assert (estimate.value, estimate.standard_error, estimate.high) == (1.0, 0.0, 1.0)
    assert estimate.low == pytest.approx(1 - 0.8 / 5 * chi2.ppf((1 + level) / 2, 2) / 2)
    assert estimate.low == pytest.approx(1 + 0.8 / 5 * np.log((1 - level) / 2))


def test_upper_bound_without_hits_is_poisson():
    """Two classes, accuracy 1 − a_0 / 2 − a_1 / 2, and every row is predicted as the class it excludes: no hit."""
    labels = ComplementaryLabels.from_single([0, 1] * 50, classes=2)
    estimate = complementary_accuracy([0, 1] * 50, labels, [0.5, 0.5])
    assert (estimate.value, estimate.standard_error, estimate.low) == (0.0, 0.0, 0.0)
    assert estimate.high == pytest.approx(0.5 / 50 * chi2.ppf(0.975, 2) / 2)


def test_bounds_are_gamma_quantiles_with_moments_of_errors():
    """4 of 20 rows excluding 0 are predicted 0, 2 of 20 excluding 1 are predicted 1: errors of 0.6 · 0.2 + 0.4 · 0.1 = 0.16."""
    labels = ComplementaryLabels.from_single([0] * 20 + [1] * 20, classes=2)
    estimate = complementary_accuracy([0] * 4 + [1] * 16 + [1] * 2 + [0] * 18, labels, [0.4, 0.6])
    variance = 0.6**2 * 0.2 * 0.8 / 20 + 0.4**2 * 0.1 * 0.9 / 20
    largest = 0.6 / 20
    assert estimate.value == pytest.approx(0.84)
    assert estimate.standard_error == pytest.approx(variance**0.5)
    # A gamma variable with mean m and variance v is v / 2m times a χ² of 2m² / v degrees of freedom.
    min_errors = variance / (2 * 0.16) * chi2.ppf(0.025, 2 * 0.16**2 / variance)
    mean, spread = 0.16 + largest, variance + largest**2
    max_errors = spread / (2 * mean) * chi2.ppf(0.975, 2 * mean**2 / spread)
    assert (estimate.low, estimate.high) == (pytest.approx(1 - max_errors), pytest.approx(1 - min_errors))


def test_predicted_classes_never_excluded_are_reported_as_unseen():
    labels = ComplementaryLabels.from_single(["a", "a", "b"] * 10, classes=["a", "b", "c", "d"])
    estimate = complementary_accuracy(["c", "c", "a"] * 10, labels, [0.25] * 4)
    assert estimate.unseen == ("c",)
    assert estimate.value == 1.0
    # Every prediction of c may be wrong, with weight 1 − 0.25; none of the 20 rows excluding a is predicted a.
    assert estimate.low == pytest.approx(1 - 0.75 - 0.75 / 20 * chi2.ppf(0.975, 2) / 2)
    seen = complementary_accuracy(["b", "b", "a"] * 10, labels, [0.25] * 4)
    assert seen.unseen == ()
    assert seen.low == pytest.approx(1 - 0.75 / 10 * chi2.ppf(0.975, 2) / 2)
    assert seen.low > estimate.low


def test_interval_of_empty_labels_is_wide():
    labels = ComplementaryLabels.from_lists([[], []], classes=2)
    estimate = complementary_accuracy([0, 1], labels, [0.5, 0.5])
    assert estimate.unseen == (0, 1)
    assert estimate.low < 0.5
    assert estimate.high == 1.0


def test_complementary_accuracy_accepts_class_names():
    labels = ComplementaryLabels.from_single(["cat", "dog", "cow"], classes=["cat", "cow", "dog"])
    named = complementary_accuracy(np.array(["cat", "cow", "dog"]), labels, [0.2, 0.3, 0.5])
    numbered = complementary_accuracy(
        [0, 1, 2], ComplementaryLabels.from_single([0, 2, 1], classes=3), [0.2, 0.3, 0.5]
    )
    assert named == numbered
    assert named.value == pytest.approx(1 - 0.8)
    assert str(named).startswith("0.2000 ± 0.0000 (95% interval ")


def test_complementary_accuracy_may_be_negative():
    labels = ComplementaryLabels.from_single([0, 1, 2], classes=3)
    estimate = complementary_accuracy([0, 1, 2], labels, [1 / 3] * 3)
    assert estimate.value == pytest.approx(-1)
    assert (estimate.low, estimate.high) == (0, 1)  # three labels do not narrow the interval
    many = ComplementaryLabels.from_single([0, 1, 2] * 50, classes=3)
    estimate = complementary_accuracy([0, 1, 2] * 50, many, [1 / 3] * 3)
    assert estimate.value == pytest.approx(-1)
    # There is no hit; a single one would have the weight 2/3 / 50.
    assert (estimate.low, estimate.high) == (0, pytest.approx(2 / 3 / 50 * chi2.ppf(0.975, 2) / 2))


# Priors and error rates estimated from the labels --------------------------------------------------------------

KNOWN = {  # what cannot be estimated from the labels alone
    "wrong answer": {"errors": ErrorRates(0.1, 0.05)},
    "wrong exclusions": {"errors": ErrorRates(0.05, 0.0), "priors": PRIORS},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_interval_with_estimated_priors_covers_truth(kind):
    """Both for a classifier and for constant predictions, whose accuracy is the prior of the predicted class."""
    rng, covered = np.random.default_rng(2), []
    for seed in range(100):
        y, predicted = draw_predictions(rng, 500)
        labels = LABEL_KINDS[kind](y, 1000 + seed)
        model = fit_label_model(labels, **KNOWN.get(kind, {}))
        cases = [(predicted, ACCURACY), *((np.full(500, k), PRIORS[k]) for k in range(Q))]
        estimates = [complementary_accuracy(codes, labels, model) for codes, _ in cases]
        covered.append(
            [e.low - 1e-9 < truth < e.high + 1e-9 for e, (_, truth) in zip(estimates, cases, strict=True)]
        )
    assert (np.mean(covered, axis=0) > 0.91).all()


@pytest.mark.parametrize("kind", ["wrong answers", "wrong answer", "wrong exclusions"])
def test_known_error_rates_are_corrected_without_bias(kind):
    rng, right, naive = np.random.default_rng(3), [], []
    errors = KNOWN.get(kind, KNOWN["wrong answer"])["errors"]
    for seed in range(300):
        y, predicted = draw_predictions(rng, 1000)
        labels = LABEL_KINDS[kind](y, 1000 + seed)
        known = fit_label_model(labels, PRIORS, errors=errors)
        right.append(complementary_accuracy(predicted, labels, known))
        unaware = fit_label_model(labels, PRIORS, errors=ErrorRates(0.0, 0.0))
        naive.append(complementary_accuracy(predicted, labels, unaware).value)
    values = np.array([estimate.value for estimate in right])
    assert values.mean() == pytest.approx(ACCURACY, abs=4 * values.std() / np.sqrt(300) + 0.002)
    assert np.mean(naive) < ACCURACY - 0.02
    errors_of = np.array([estimate.standard_error for estimate in right])
    assert np.sqrt((errors_of**2).mean()) == pytest.approx(values.std(), rel=0.12)


@pytest.mark.parametrize("kind", ["uniform", "scar", "questions"])
def test_prior_interval_widens_accuracy_interval(kind):
    y, predicted = draw_predictions(np.random.default_rng(4), 1000)
    labels = LABEL_KINDS[kind](y, 0)
    widths, errors = [], []
    for half in (0.0, 0.02, 0.1):
        model = fit_label_model(labels, PRIORS, prior_interval=(PRIORS - half, PRIORS + half))
        estimate = complementary_accuracy(predicted, labels, model)
        widths.append(estimate.high - estimate.low)
        errors.append(estimate.standard_error)
    exact = complementary_accuracy(predicted, labels, fit_label_model(labels, PRIORS))
    assert (widths[0], errors[0]) == (
        pytest.approx(exact.high - exact.low),
        pytest.approx(exact.standard_error),
    )
    assert widths[0] < widths[1] < widths[2]
    assert errors[0] < errors[1] < errors[2]


LABELS = ComplementaryLabels.from_single(["a", "b"], classes=["a", "b", "c"])
VALID_PRIORS = [0.5, 0.3, 0.2]


@pytest.mark.parametrize(
    ("predicted", "priors", "level", "error", "message"),
    [
        (
            ["a"],
            VALID_PRIORS,
            0.95,
            FeatureError,
            r"the predictions have shape \(1,\); expected \(2,\), one per labeled example",
        ),
        ([["a"], ["b"]], VALID_PRIORS, 0.95, FeatureError, r"the predictions have shape \(2, 1\)"),
        (
            ["a", "x"],
            VALID_PRIORS,
            0.95,
            LabelError,
            r"the prediction x is not one of the classes \(a, b, c\)",
        ),
        (["a", "b"], [0.5, 0.5], 0.95, PriorError, r"priors has shape \(2,\); expected 3 numbers"),
        (["a", "b"], 0.3, 0.95, PriorError, r"priors has shape \(\); expected 3 numbers"),
        (["a", "b"], {"a": 1}, 0.95, PriorError, "priors is {'a': 1}; expected 3 numbers"),
        (["a", "b"], [0.5, 0.5, 0.5], 0.95, PriorError, r"the priors sum to 1\.5; expected 1"),
        (["a", "b"], [0.5, 0.6, -0.1], 0.95, PriorError, r"the prior of class c is -0\.1"),
        (
            ["a", "b"],
            VALID_PRIORS,
            95,
            MethodError,
            "level=95; expected a number above 0 and below 1",
        ),
        (["a", "b"], VALID_PRIORS, 1, MethodError, "level=1; expected"),
    ],
)
def test_complementary_accuracy_rejects_invalid_input(predicted, priors, level, error, message):
    with pytest.raises(error, match=message):
        complementary_accuracy(predicted, LABELS, priors, level=level)
