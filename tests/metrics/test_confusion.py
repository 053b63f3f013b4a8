"""The confusion matrix without true labels against values by hand, slow loops, whole populations and many draws."""

import numpy as np
import pytest
from helpers.populations import (
    ACCURACY,
    JOINT,
    LABEL_KINDS,
    PRIORS,
    Q,
    draw_predictions,
    labels_from_answers,
    whole_population,
    whole_population_of_answers,
    whole_population_with_errors,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from scarce.labels import ComplementaryLabels
from scarce.metrics import ErrorRates, complementary_accuracy, fit_label_model
from scarce.metrics._confusion import Confusion, tally_labels
from scarce.simulate import scar, uniform


def confusion_of(predicted, labels, priors=None, errors=None):
    return Confusion.from_tallies(
        tally_labels(np.asarray(predicted), labels), fit_label_model(labels, priors, errors=errors)
    )


# Counting ----------------------------------------------------------------------------------------------------------


def test_tally_labels_counts_exclusions_by_predicted_class():
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1], [2], []], classes=3)
    tallies = tally_labels(np.array([0, 2, 2, 2, 1]), labels)
    assert not tallies.from_answers
    assert tallies.predicted.tolist() == [1, 1, 3]
    assert tallies.predicted_fractions.tolist() == pytest.approx([0.2, 0.2, 0.6])
    assert tallies.contradicted.tolist() == [[1, 0, 0], [0, 0, 0], [1, 2, 1]]
    assert tallies.denied.tolist() == [2, 2, 1]
    assert tallies.asked.tolist() == [5, 5, 5]
    assert tallies.rates.tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_tally_labels_counts_answers_but_not_skipped_ones():
    """Rows 0 to 3 are predicted 0, 0, 1, 1. Row 0 is asked twice about class 1, and row 3 skips its question."""
    labels = labels_from_answers([0, 0, 1, 2, 2, 3], [1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 1, -1], 4, 2)
    tallies = tally_labels(np.array([0, 0, 1, 1]), labels)
    assert tallies.from_answers
    assert tallies.asked.tolist() == [2, 3]
    assert tallies.denied.tolist() == [1, 2]
    assert tallies.contradicted.tolist() == [[0, 2], [1, 0]]
    assert tallies.asked_predicted.tolist() == [[1, 2], [1, 1]]


def test_tally_labels_treats_answers_that_are_all_no_as_exclusions():
    labels = labels_from_answers([0, 0, 1], [1, 2, 0], [0, 0, 0], 2, 3)
    tallies = tally_labels(np.array([1, 1]), labels)
    assert not tallies.from_answers
    assert tallies.contradicted.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 0]]


# By hand -----------------------------------------------------------------------------------------------------------


def test_matrix_of_exclusions_matches_values_by_hand():
    """Of four rows excluding 0, one is predicted 0 and three 1; both rows excluding 1 are predicted 0. π = (0.4, 0.6)."""
    labels = ComplementaryLabels.from_single([0, 0, 0, 0, 1, 1], classes=2)
    matrix = confusion_of([0, 1, 1, 1, 0, 0], labels, [0.4, 0.6]).matrix
    # s = 1/2; A_jk = s_j − (1 − π_k) P(predicted j | k is excluded)
    assert matrix.tolist() == [
        pytest.approx([0.5 - 0.6 * 0.25, 0.5 - 0.4 * 1]),
        pytest.approx([0.5 - 0.6 * 0.75, 0.5 - 0.4 * 0]),
    ]


def test_matrix_of_answers_matches_values_by_hand():
    """Asked about 0: one "no" of four, predicted 0. Asked about 1: three of four, one predicted 1 and two predicted 0."""
    asked, answers = [0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 0, 1, 0, 0]
    labels = labels_from_answers(np.arange(8), asked, answers, 8, 2)
    confusion = confusion_of([0, 0, 1, 1, 1, 1, 0, 0], labels, errors=ErrorRates(0.0, 0.0))
    assert confusion.matrix.tolist() == [
        pytest.approx([0.5 - 1 / 4, 0.5 - 2 / 4]),
        pytest.approx([0.5 - 0, 0.5 - 1 / 4]),
    ]
    # With 0.1 wrong "no" and 0.2 wrong "yes": (0.8 s_j − x_jk) / 0.7
    wrong = confusion_of([0, 0, 1, 1, 1, 1, 0, 0], labels, errors=ErrorRates(0.1, 0.2))
    assert wrong.matrix[0].tolist() == pytest.approx([(0.4 - 1 / 4) / 0.7, (0.4 - 2 / 4) / 0.7])


def test_matrix_of_exclusions_with_errors_matches_values_by_hand():
    """Each class is excluded by half of eight rows. π = (1/2, 1/2), ρ = 0.1, so c = (0.5 − 0.05) / 0.5 = 0.9."""
    labels = ComplementaryLabels.from_single([0] * 4 + [1] * 4, classes=2)
    confusion = confusion_of([0, 1, 1, 1, 0, 0, 0, 1], labels, [0.5, 0.5], ErrorRates(0.1, 0.0))
    diagonal = (0.9 * 0.5 - 1 / 8) / 0.8
    other = (0.9 * 0.5 - 3 / 8) / 0.8
    assert confusion.matrix.tolist() == [pytest.approx([diagonal, other]), pytest.approx([other, diagonal])]


# Slow loops --------------------------------------------------------------------------------------------------------


@st.composite
def exclusions(draw):
    n, q = draw(st.integers(2, 14)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, q, n)
    excluded = rng.random((n, q)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    excluded[np.arange(n), y] = False
    return rng.integers(0, q, n), excluded, rng.dirichlet(np.full(q, 5.0))


@st.composite
def answers(draw):
    """Every example is asked about some classes, once each, and at least one answer is yes."""
    n, q = draw(st.integers(2, 14)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    answers = rng.choice([-2, 0, 1], (n, q), p=[0.3, 0.4, 0.3])  # −2: not asked
    answers[0] = 1
    false_negative, false_positive = draw(st.sampled_from([(0.0, 0.0), (0.1, 0.05), (0.3, 0.2)]))
    return rng.integers(0, q, n), answers, ErrorRates(false_negative, false_positive)


def labels_from(answers):
    rows, asked = np.nonzero(answers >= 0)
    return labels_from_answers(rows, asked, answers[rows, asked], *answers.shape)


def weighted_cells_of_exclusions(predicted, excluded, priors, weights):
    """A_jk = s_j − (1 − π_k) P(predicted j | k is excluded), with weighted examples."""
    n, q = excluded.shape
    cells = np.zeros((q, q))
    for j in range(q):
        for k in range(q):
            fraction = sum(weights[i] for i in range(n) if predicted[i] == j) / sum(weights)
            of_excluded = sum(weights[i] for i in range(n) if excluded[i, k])
            both = sum(weights[i] for i in range(n) if excluded[i, k] and predicted[i] == j)
            cells[j, k] = fraction - (1 - priors[k]) * (both / of_excluded if of_excluded else 0)
    return cells


def weighted_cells_of_answers(predicted, answers, errors, weights):
    """A_jk = ((1 − fp) s_j − P(predicted j and no | asked about k)) / (1 − fn − fp), with weighted examples."""
    n, q = answers.shape
    net = 1 - errors.false_negative - errors.false_positive
    cells = np.zeros((q, q))
    for j in range(q):
        for k in range(q):
            fraction = sum(weights[i] for i in range(n) if predicted[i] == j) / sum(weights)
            asked = sum(weights[i] for i in range(n) if answers[i, k] >= 0)
            both = sum(weights[i] for i in range(n) if answers[i, k] == 0 and predicted[i] == j)
            cells[j, k] = ((1 - errors.false_positive) * fraction - both / asked) / net
    return cells


def influences_of(cells_at, n, step=1e-4):
    """Return the influence of each example: how every cell changes with its weight."""
    found = []
    for i in range(n):
        more, less = (1.0 + sign * step * (np.arange(n) == i) for sign in (1, -1))
        found.append((cells_at(more) - cells_at(less)) / (2 * step))
    return np.array(found)


def check_against(cells_at, confusion, n):
    """Compare matrix, influences and standard errors with those of the slow loop."""
    assert confusion.matrix == pytest.approx(cells_at(np.ones(n)), abs=1e-12)
    influences = influences_of(cells_at, n)
    of_diagonal = influences.diagonal(axis1=1, axis2=2).sum(axis=1)
    assert confusion.influences == pytest.approx(of_diagonal, abs=1e-7)
    assert confusion.standard_errors**2 == pytest.approx((influences**2).sum(axis=0), abs=1e-7)


@given(exclusions())
def test_matrix_of_exclusions_equals_slow_loop(case):
    predicted, excluded, priors = case
    confusion = confusion_of(predicted, ComplementaryLabels.from_indicator(excluded), priors)
    check_against(
        lambda w: weighted_cells_of_exclusions(predicted, excluded, priors, w), confusion, len(predicted)
    )


@given(answers())
def test_matrix_of_answers_equals_slow_loop(case):
    predicted, answers, errors = case
    confusion = confusion_of(predicted, labels_from(answers), errors=errors)
    check_against(
        lambda w: weighted_cells_of_answers(predicted, answers, errors, w), confusion, len(predicted)
    )


@given(answers(), st.integers(0, 10**6))
def test_matrix_of_answers_with_given_priors_equals_slow_loop(case, seed):
    """Each "no" then counts as an exclusion."""
    predicted, answers, _ = case
    priors = np.random.default_rng(seed).dirichlet(np.full(answers.shape[1], 5.0))
    confusion = confusion_of(predicted, labels_from(answers), priors, ErrorRates(0.0, 0.0))
    check_against(
        lambda w: weighted_cells_of_exclusions(predicted, answers == 0, priors, w), confusion, len(predicted)
    )


@given(answers())
def test_matrix_of_repeated_answers_counts_per_example(case):
    """Repeating every answer doubles the answers but not the examples: the uncertainty stays the same."""
    predicted, answers, errors = case
    rows, asked = np.nonzero(answers >= 0)
    codes = answers[rows, asked]
    once = confusion_of(predicted, labels_from(answers), errors=errors)
    table = labels_from_answers(np.tile(rows, 2), np.tile(asked, 2), np.tile(codes, 2), *answers.shape)
    twice = confusion_of(predicted, table, errors=errors)
    assert twice.matrix == pytest.approx(once.matrix)
    assert twice.influences == pytest.approx(once.influences)


def slow_corrected(predicted, excluded, priors, error):
    """A_jk = (c_k s_j − P(predicted j, not k)) / (c_k − ρ), with c_k = (r_k − ρ π_k) / (1 − π_k)."""
    n, q = excluded.shape
    cells = np.zeros((q, q))
    for k in range(q):
        rate = sum(excluded[i, k] for i in range(n)) / n
        c = (rate - error * priors[k]) / (1 - priors[k])
        assume(c > 2 * error)
        for j in range(q):
            fraction = sum(predicted[i] == j for i in range(n)) / n
            both = sum(excluded[i, k] and predicted[i] == j for i in range(n)) / n
            cells[j, k] = (c * fraction - both) / (c - error)
    return cells


@given(exclusions(), st.sampled_from([0.001, 0.02, 0.05]))
def test_matrix_corrected_for_errors_equals_slow_loop(case, error):
    predicted, excluded, priors = case
    expected = slow_corrected(predicted, excluded, priors, error)
    labels = ComplementaryLabels.from_indicator(excluded)
    confusion = confusion_of(predicted, labels, priors, ErrorRates(error, 0.0))
    assert confusion.matrix == pytest.approx(expected, abs=1e-9)
    assert confusion.matrix.sum(axis=0) == pytest.approx(priors)  # for any predictions


@given(exclusions())
def test_matrix_columns_sum_to_priors(case):
    predicted, excluded, priors = case
    seen = excluded.any(axis=0)
    columns = confusion_of(predicted, ComplementaryLabels.from_indicator(excluded), priors).matrix.sum(axis=0)
    assert columns[seen] == pytest.approx(priors[seen])
    assert columns[~seen] == pytest.approx(1)  # no evidence against a class that is never excluded


# Whole populations -------------------------------------------------------------------------------------------------


def check_whole(predicted, labels, priors, errors):
    confusion = confusion_of(predicted, labels, priors, errors)
    assert confusion.matrix == pytest.approx(JOINT, abs=1e-12)
    assert confusion.matrix.trace() == pytest.approx(ACCURACY, abs=1e-12)
    return confusion


def test_matrix_of_population_is_exact():
    check_whole(*whole_population(), PRIORS, None)


@pytest.mark.parametrize("error", [0.0, 0.05, 0.1])
def test_matrix_of_population_with_wrong_exclusions_is_exact(error):
    predicted, labels = whole_population_with_errors(error)
    check_whole(predicted, labels, PRIORS, ErrorRates(error, 0.0))
    if error:
        assert abs(confusion_of(predicted, labels, PRIORS).matrix - JOINT).max() > 0.01


@pytest.mark.parametrize("priors", [None, PRIORS], ids=["estimated", "given"])
@pytest.mark.parametrize(
    ("false_negative", "false_positive"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.2), (0.1, 0.2)]
)
@pytest.mark.parametrize("n_questions", [1, 2])
def test_matrix_of_population_of_answers_is_exact(n_questions, false_negative, false_positive, priors):
    predicted, labels = whole_population_of_answers(n_questions, false_negative, false_positive)
    confusion = check_whole(predicted, labels, priors, ErrorRates(false_negative, false_positive))
    assert confusion.priors == pytest.approx(PRIORS, abs=1e-12)


# Over many draws ---------------------------------------------------------------------------------------------------

KNOWN = {  # priors and error rates
    "uniform": (PRIORS, None),
    "scar": (PRIORS, None),
    "question": (None, ErrorRates(0.0, 0.0)),
    "wrong answer": (None, ErrorRates(0.1, 0.05)),
    "wrong exclusions": (PRIORS, ErrorRates(0.05, 0.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KNOWN)
def test_standard_errors_equal_deviations_over_many_samples(kind):
    rng, matrices, errors = np.random.default_rng(6), [], []
    for seed in range(600):
        y, predicted = draw_predictions(rng, 400)
        confusion = confusion_of(predicted, LABEL_KINDS[kind](y, 3000 + seed), *KNOWN[kind])
        matrices.append(confusion.matrix)
        errors.append(confusion.standard_errors)
    deviations = np.std(matrices, axis=0)
    assert np.mean(matrices, axis=0) == pytest.approx(JOINT, abs=4 * deviations.max() / np.sqrt(600) + 0.002)
    assert np.sqrt(np.mean(np.square(errors), axis=0)) == pytest.approx(deviations, rel=0.15)


def test_standard_errors_include_uncertainty_of_priors():
    y, predicted = draw_predictions(np.random.default_rng(0), 1000)
    labels = uniform(y, classes=Q, seed=1)
    sure = confusion_of(predicted, labels, PRIORS)
    open_ = Confusion.from_tallies(
        sure.tallies, fit_label_model(labels, PRIORS, prior_interval=(PRIORS - 0.1, PRIORS + 0.1))
    )
    assert open_.matrix.tolist() == sure.matrix.tolist()
    assert (open_.standard_errors > sure.standard_errors).all()
    # A_jk = s_j − (1 − π_k) x_jk, so that π_k contributes its deviation, weighted by x_jk.
    of_priors = open_.contradicted_fractions * open_.prior_draws.std(axis=0)
    assert open_.standard_errors == pytest.approx(np.hypot(sure.standard_errors, of_priors))


# Little data ------------------------------------------------------------------------------------------------------


def test_matrix_of_nearly_uninformative_labels_is_bounded():
    """Class 0 is excluded by 1 % of the rows, less than errors alone would cause (5 % of half of the rows)."""
    y = np.repeat([0, 1, 2], [500, 300, 200])
    labels = scar(y, c=[0.02, 0.5, 0.5], seed=0)
    confusion = confusion_of(np.zeros(1000, int), labels, [0.5, 0.3, 0.2], ErrorRates(0.05, 0.0))
    assert abs(confusion.matrix).max() <= 20
    assert confusion.standard_errors.max() <= 20


@pytest.mark.parametrize("error", [0.0, 0.05])
def test_predictions_of_class_never_excluded_count_as_correct(error):
    """Even if the error rate is known: errors in a class that is never excluded cannot be corrected."""
    labels = ComplementaryLabels.from_single([0, 1] * 100, classes=3)
    model = fit_label_model(labels, [0.4, 0.4, 0.2], errors=ErrorRates(error, 0.0))
    predicted = np.where(np.arange(200) < 100, 2, 1 - np.arange(200) % 2)
    confusion = Confusion.from_tallies(tally_labels(predicted, labels), model)
    assert confusion.matrix[:, 2] == pytest.approx(confusion.tallies.predicted_fractions)
    estimate = complementary_accuracy(predicted, labels, model)
    assert estimate.unseen == (2,)
    # All predictions of class 2 may be wrong: half of all predictions, or slightly more by Wilson's interval.
    half = binomtest(100, 200).proportion_ci(method="wilson").high
    assert 0.5 < half < 0.6
    assert estimate.value - half - 0.1 < estimate.low < estimate.value - half


def test_matrix_rows_of_classes_never_predicted_are_zero():
    y, _ = draw_predictions(np.random.default_rng(0), 300)
    confusion = confusion_of(np.ones(300, int), uniform(y, classes=Q, seed=1), PRIORS)
    assert (confusion.matrix[[0, 2]] == 0).all()
    assert confusion.matrix[1] == pytest.approx(PRIORS)
    assert (confusion.standard_errors[[0, 2]] == 0).all()


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 5))
def test_count_of_selected_rows_equals_count_of_subset(seed, n, q):
    rng = np.random.default_rng(seed)
    excluded = rng.random((n, q)) < 0.4
    excluded[np.arange(n), rng.integers(0, q, n)] = False
    labels, codes, rows = (
        ComplementaryLabels.from_indicator(excluded),
        rng.integers(0, q, n),
        rng.random(n) < 0.5,
    )
    rows[0] = True
    predicted, contradicted = tally_labels(codes, labels).for_rows(rows)
    alone = tally_labels(codes[rows], labels[rows])
    assert predicted.tolist() == alone.predicted.tolist()
    assert contradicted.tolist() == alone.contradicted.tolist()
