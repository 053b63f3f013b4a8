"""Priors of a label model: by hand, likelihoods by slow loops, and intervals over many draws."""

from math import exp, log

import numpy as np
import pytest
import torch
from helpers.populations import (
    EXCLUSION_PROBABILITIES,
    LABEL_KINDS,
    PRIORS,
    Q,
    draw_predictions,
    labels_from_answers,
    whole_population_of_answers,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from scarce.errors import PriorError
from scarce.labels import ComplementaryLabels
from scarce.metrics import ErrorRates, complementary_report, fit_label_model
from scarce.metrics._label_posterior import (
    cap_distributions,
    exclusion_log_likelihood,
    single_label_log_likelihood,
)
from scarce.metrics.label_model import has_random_answers
from scarce.simulate import ask, from_transition, scar, uniform, with_errors

NO_ERRORS = ErrorRates(0.0, 0.0)


# Priors by hand ----------------------------------------------------------------------------------------------------


def test_label_model_keeps_given_priors():
    labels = uniform([0, 1, 2] * 10, seed=0)
    model = fit_label_model(labels, [0.5, 0.3, 0.2])
    assert model.source == "given"
    assert model.priors.tolist() == [0.5, 0.3, 0.2]
    assert (model.prior_draws == [0.5, 0.3, 0.2]).all()
    assert [bound.tolist() for bound in model.prior_interval()] == [pytest.approx([0.5, 0.3, 0.2])] * 2


def test_label_model_draws_around_given_priors_with_interval():
    half = np.array([0.03, 0.02, 0.01])
    priors = np.array([0.2, 0.1, 0.7])
    model = fit_label_model(
        uniform([0, 1, 2] * 10, seed=0), priors, prior_interval=(priors - half, priors + half)
    )
    assert model.priors.tolist() == priors.tolist()
    assert model.prior_draws.sum(axis=1) == pytest.approx(1)
    assert model.prior_draws.mean(axis=0) == pytest.approx(priors, abs=0.003)
    # Made to sum to one, e_k becomes e_k − π_k Σ e, with the variance σ_k² (1 − 2 π_k) + π_k² Σ σ².
    sigma = half / 1.96
    expected = np.sqrt(sigma**2 * (1 - 2 * priors) + priors**2 * (sigma**2).sum())
    assert model.prior_draws.std(axis=0) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("priors", "message"), [([0.5, 0.5], "expected 3 numbers"), ([0.5] * 3, "sum to 1.5")]
)
def test_label_model_rejects_invalid_priors(priors, message):
    with pytest.raises(PriorError, match=message):
        fit_label_model(uniform([0, 1, 2] * 10), priors)


def test_priors_of_answers_are_frequencies_of_yes_by_hand():
    """Yes to 2 of 4, 1 of 3 and 1 of 6; a skipped answer does not count. 1/2 + 1/3 + 1/6 = 1."""
    asked = [0] * 4 + [1] * 3 + [2] * 6 + [0]
    answers = [*(1, 1, 0, 0), *(1, 0, 0), *(1, 0, 0, 0, 0, 0), -1]
    model = fit_label_model(labels_from_answers(np.arange(14), asked, answers, 14, 3), errors=NO_ERRORS)
    assert (model.source, model.error_source) == ("answers", "given")
    assert model.priors.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_priors_of_answers_sum_to_one():
    """Yes to 2 of 4 and 1 of 4, a ratio of 2 to 1."""
    labels = labels_from_answers(np.arange(8), [0] * 4 + [1] * 4, [1, 1, 0, 0, 1, 0, 0, 0], 8, 2)
    assert fit_label_model(labels, errors=NO_ERRORS).priors.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_priors_of_answers_are_corrected_for_errors_by_hand():
    """Yes to 5, 4 and 3 of 10, with 0.1 wrong "no" and 0.2 wrong "yes": (0.3, 0.2, 0.1) / 0.7, made to sum to one."""
    answers = [k < n for n in (5, 4, 3) for k in range(10)]
    labels = labels_from_answers(np.arange(30), np.repeat([0, 1, 2], 10), answers, 30, 3)
    model = fit_label_model(labels, errors=ErrorRates(0.1, 0.2))
    assert model.priors.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_priors_of_classes_never_asked_about_share_remainder():
    """Yes to 1 of 5 and 2 of 5; 0.4 is left, and half of it for each of two classes."""
    labels = labels_from_answers(np.arange(10), [0] * 5 + [1] * 5, [1, 0, 0, 0, 0, 1, 1, 0, 0, 0], 10, 3)
    assert fit_label_model(labels, errors=NO_ERRORS).priors.tolist() == pytest.approx([0.2, 0.4, 0.4])
    labels = labels_from_answers(np.arange(10), [0] * 5 + [1] * 5, [1, 0, 0, 0, 0, 1, 1, 0, 0, 0], 10, 4)
    assert fit_label_model(labels, errors=NO_ERRORS).priors.tolist() == pytest.approx([0.2, 0.4, 0.2, 0.2])


@pytest.mark.parametrize(
    ("n_questions", "false_negative", "false_positive"),
    [(1, 0.0, 0.0), (1, 0.1, 0.2), (2, 0.0, 0.0), (2, 0.1, 0.2)],
)
def test_priors_of_population_of_answers_are_exact(n_questions, false_negative, false_positive):
    _, labels = whole_population_of_answers(n_questions, false_negative, false_positive)
    model = fit_label_model(labels, errors=ErrorRates(false_negative, false_positive))
    assert model.priors == pytest.approx(PRIORS, abs=1e-12)


def test_priors_of_two_classes_with_one_exclusion_are_frequencies():
    """The true class is the one that is not excluded: 0.7 ± √(0.7 · 0.3 / 1000)."""
    model = fit_label_model(ComplementaryLabels.from_single([0] * 300 + [1] * 700, classes=2))
    assert model.source == "labels"
    assert model.priors == pytest.approx([0.7, 0.3], abs=0.005)
    assert model.prior_draws.std(axis=0) == pytest.approx(np.sqrt(0.21 / 1000), rel=0.5)


def test_priors_of_all_but_one_class_excluded_are_frequencies():
    y = np.repeat([0, 1, 2, 3], [100, 200, 300, 400])
    model = fit_label_model(scar(y, c=1))
    assert model.priors == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.01)


def test_has_random_answers_needs_a_yes():
    assert has_random_answers(ComplementaryLabels.from_answer_matrix([["no", "yes"]]))
    assert not has_random_answers(ComplementaryLabels.from_answer_matrix([["no", ""], ["", "skip"]]))
    assert not has_random_answers(ComplementaryLabels.from_single([0], classes=2))


def test_label_model_treats_answers_that_are_all_no_as_exclusions():
    rng = np.random.default_rng(0)
    excluded = rng.integers(0, 3, 200)
    no = labels_from_answers(np.arange(200), excluded, np.zeros(200, int), 200, 3)
    plain = fit_label_model(ComplementaryLabels.from_single(excluded, classes=3))
    model = fit_label_model(no)
    assert (model.source, model.error_source) == ("labels", "none")
    assert model.prior_draws.tolist() == plain.prior_draws.tolist()


# Likelihoods -------------------------------------------------------------------------------------------------------


@st.composite
def partly_confirmed(draw):
    """Exclusions of a few rows, of which some are of a known class."""
    n, q = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, q, n)
    excluded = rng.random((n, q)) < draw(st.sampled_from([0.0, 0.2, 0.6, 1.0]))
    excluded[np.arange(n), y] = False
    confirmed = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.5])), y, -1)
    labels = ComplementaryLabels.from_indicator(excluded, q)
    return ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=confirmed), rng


def exclude_own_class(labels, error, rng):
    """Let some rows of unknown class exclude one more class, as long as another is left."""
    rows = labels.indicator()
    for excluded, confirmed in zip(rows, labels.confirmed, strict=True):
        left = np.flatnonzero(~excluded)
        if error and confirmed < 0 and len(left) > 1 and rng.random() < 0.3:
            excluded[rng.choice(left)] = True
    plain = ComplementaryLabels.from_indicator(rows, labels.classes)
    return ComplementaryLabels(plain.indptr, plain.indices, plain.classes, confirmed=labels.confirmed)


@given(partly_confirmed(), st.sampled_from([0.0, 0.01, 0.2]))
def test_likelihood_of_independent_exclusions_equals_slow_loop(case, error):
    """A confirmed class without exclusions is an ordinary label: it says nothing about exclusions."""
    labels, rng = case
    labels = exclude_own_class(labels, error, rng)
    q = labels.n_classes
    pi, c = rng.dirichlet(np.ones(q)), rng.uniform(0.05, 0.95, q)
    expected = 0.0
    for excluded, confirmed in zip(labels.indicator(), labels.confirmed, strict=True):
        total = 0.0
        for y in range(q):
            if confirmed not in (-1, y):
                continue
            chance = pi[y]
            if excluded.any() or confirmed < 0:
                for k in range(q):
                    if k != y:
                        chance *= c[k] if excluded[k] else 1 - c[k]
                    elif confirmed < 0:  # a confirmed class is never excluded
                        chance *= error if excluded[k] else 1 - error
            total += chance
        expected += log(total)
    likelihood = exclusion_log_likelihood(labels, error)
    found = likelihood(torch.from_numpy(np.log(pi)), torch.from_numpy(np.log(c / (1 - c))))
    assert found.item() == pytest.approx(expected, abs=1e-6)


@given(st.integers(2, 5), st.integers(1, 30), st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.2]))
def test_likelihood_of_single_exclusions_equals_slow_loop(q, n, seed, error):
    """The excluded class of an example of class y is y itself by error, or k with probability w_k / Σ_{l ≠ y} w_l."""
    rng = np.random.default_rng(seed)
    pi, logits, excluded = rng.dirichlet(np.ones(q)), rng.normal(size=q), rng.integers(0, q, n)
    expected = 0.0
    for k in excluded:
        total = error * pi[k]
        for y in range(q):
            if y != k:
                others = sum(exp(logits[other]) for other in range(q) if other != y)
                total += (1 - error) * pi[y] * exp(logits[k]) / others
        expected += log(total)
    labels = ComplementaryLabels.from_single(excluded, classes=q)
    found = single_label_log_likelihood(labels, error)(torch.from_numpy(np.log(pi)), torch.from_numpy(logits))
    assert found.item() == pytest.approx(expected, abs=1e-9)


# Draws ---------------------------------------------------------------------------------------------------------------


@st.composite
def any_labels(draw):
    """Exclusions or answers of every kind for a few examples."""
    n, q = draw(st.integers(1, 40)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, q, n)
    if draw(st.booleans()):
        asked = rng.random((n, q)) < draw(st.sampled_from([0.1, 0.4, 1.0]))
        rows, classes = np.nonzero(asked)
        answers = np.where(rng.random(len(rows)) < 0.1, -1, classes == y[rows])
        return labels_from_answers(rows, classes, answers, n, q)
    if draw(st.booleans()):
        return ComplementaryLabels.from_single((y + rng.integers(1, q, n)) % q, classes=q)
    excluded = rng.random((n, q)) < draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    excluded[np.arange(n), y] = False
    return ComplementaryLabels.from_indicator(excluded, q)


@pytest.mark.parametrize(
    ("draw", "caps", "expected"),
    [
        ([0.7, 0.2, 0.1], [1, 1, 1], [0.7, 0.2, 0.1]),
        ([0.7, 0.2, 0.1], [0.5, 1, 1], [1 / 2, 1 / 3, 1 / 6]),  # the others keep their proportions
        ([0.7, 0.2, 0.1], [0.5, 0.3, 1], [0.5, 0.3, 0.2]),  # then the second exceeds its limit
        ([0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([1, 0, 0], [1, 1, 1], [1, 0, 0]),
        ([1, 0, 0], [0.4, 1, 1], [0.4, 0.3, 0.3]),
    ],
)
def test_cap_distributions_distributes_excess_proportionally(draw, caps, expected):
    found = cap_distributions(np.array([draw], float), np.array(caps, float))[0]
    assert found == pytest.approx(expected, abs=1e-8)
    assert (found > 0).all()


@given(any_labels())
def test_prior_draws_are_distributions_within_limits_of_labels(labels):
    model = fit_label_model(labels)
    low, high = model.prior_interval()
    for priors in (model.prior_draws, model.priors[None]):
        assert np.isfinite(priors).all()
        assert (priors >= 0).all()
        assert priors.sum(axis=1) == pytest.approx(1)
    assert (low <= high).all()
    assert np.isfinite(model.error_draws).all()
    assert (model.error_draws >= 0).all()
    assert (model.error_draws.sum(axis=1) < 1).all()
    if model.source == "labels":  # no example that excludes k is of class k, so priors are below 1 − r
        n = len(labels)
        caps = [binomtest(int(n - k), n).proportion_ci(0.99, method="wilson").high for k in labels.counts]
        assert (model.prior_draws <= np.array(caps) + 1e-8).all()


@pytest.mark.parametrize(
    "labels",
    [
        uniform(np.arange(200) % 3, seed=0),
        scar(np.arange(200) % 3, c=0.4, seed=0),
        ask(np.arange(200) % 3, questions=2, seed=0),
    ],
    ids=["uniform", "scar", "answers"],
)
def test_draws_depend_only_on_seed(labels):
    one, same, other = (fit_label_model(labels, seed=seed) for seed in (3, 3, 4))
    assert one.prior_draws.tolist() == same.prior_draws.tolist()
    assert one.error_draws.tolist() == same.error_draws.tolist()
    assert one.prior_draws.tolist() != other.prior_draws.tolist()
    assert one.priors == pytest.approx(other.priors, abs=0.03)


@pytest.mark.parametrize("kind", ["uniform", "scar", "questions"])
def test_priors_do_not_depend_on_predictions(kind):
    rng = np.random.default_rng(0)
    y, predicted = draw_predictions(rng, 400)
    labels = LABEL_KINDS[kind](y, 1)
    alone = fit_label_model(labels)
    for candidate in (predicted, y, np.zeros(400, int), rng.integers(0, Q, 400)):
        model = complementary_report(candidate, labels).label_model
        assert model.prior_draws.tolist() == alone.prior_draws.tolist()
        assert model.priors.tolist() == alone.priors.tolist()


# Over many draws -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "scar", "question", "wrong answer", "wrong exclusions"])
def test_prior_interval_covers_true_priors(kind):
    errors = {"wrong answer": ErrorRates(0.1, 0.05), "wrong exclusions": ErrorRates(0.05, 0.0)}.get(kind)
    rng, covered = np.random.default_rng(5), []
    for seed in range(100):
        y, _ = draw_predictions(rng, 400)
        low, high = fit_label_model(LABEL_KINDS[kind](y, 2000 + seed), errors=errors).prior_interval()
        covered.append((low <= PRIORS) & (high >= PRIORS))
    assert np.mean(covered) > 0.92
    assert (np.mean(covered, axis=0) > 0.88).all()


TWO_CLASS_PRIORS = np.array([0.7, 0.3])
CERTAIN_LABELS = {  # labels that determine the class, or nearly do
    "two classes": (TWO_CLASS_PRIORS, lambda y, seed: uniform(y, classes=2, seed=seed), None),
    "two classes, wrong labels": (
        TWO_CLASS_PRIORS,
        lambda y, seed: from_transition(y, with_errors([[0, 1], [1, 0]], 0.05), classes=2, seed=seed),
        ErrorRates(0.05, 0.0),
    ),
    "all classes but one": (PRIORS, lambda y, seed: scar(y, c=1, classes=Q), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CERTAIN_LABELS)
def test_prior_interval_includes_sampling_error_of_certain_labels(kind):
    """The priors are those of the population, from which the labeled examples are a sample."""
    priors, make, errors = CERTAIN_LABELS[kind]
    rng, covered = np.random.default_rng(6), []
    for seed in range(40):
        y = rng.choice(len(priors), 300, p=priors)
        low, high = fit_label_model(make(y, 2000 + seed), errors=errors).prior_interval()
        covered.append((low <= priors) & (high >= priors))
    assert np.mean(covered) > 0.9


def test_prior_interval_of_random_answers_is_tight():
    """The standard error of a frequency of yes among 2,000 is √(π (1 − π) / 2000); the 95 % interval is ±1.96 of them."""
    y = np.random.default_rng(0).choice(Q, 6000, p=PRIORS)
    low, high = fit_label_model(ask(y, classes=Q, seed=1), errors=NO_ERRORS).prior_interval()
    assert (high - low < 1.1 * 2 * 1.96 * np.sqrt(PRIORS * (1 - PRIORS) / 2000)).all()
    assert (high - low > 0.5 * 2 * 1.96 * np.sqrt(PRIORS * (1 - PRIORS) / 2000)).all()


@pytest.mark.parametrize("kind", ["uniform", "scar"])
def test_priors_of_many_exclusions_are_close_to_truth(kind):
    y = np.random.default_rng(0).choice(Q, 10_000, p=PRIORS)
    assert fit_label_model(LABEL_KINDS[kind](y, 1)).priors == pytest.approx(PRIORS, abs=0.05)


# Little data --------------------------------------------------------------------------------------------------------

LITTLE_DATA = {
    "labels that say nothing": ComplementaryLabels.from_lists([[], [], []], classes=3),
    "one row": ComplementaryLabels.from_lists([[1]], classes=3),
    "one row that says nothing": ComplementaryLabels.from_lists([[]], classes=3),
    "two classes": ComplementaryLabels.from_single([0, 1, 1], classes=2),
    "two classes, some rows without a label": ComplementaryLabels.from_lists([[0], [1], []], classes=2),
    "a class that no example excludes": ComplementaryLabels.from_single([0, 1] * 20, classes=3),
    "one class that everybody excludes": ComplementaryLabels.from_single([2] * 30, classes=3),
    "all classes but one excluded": ComplementaryLabels.from_lists([[0, 1], [0, 2], [1, 2]], classes=3),
    "all rows of one class": ComplementaryLabels.from_lists([[0, 1]] * 20, classes=3),
    "confirmed rows": ComplementaryLabels([0, 1, 1, 1], [2], [0, 1, 2], confirmed=[-1, 0, 1]),
    "only confirmed rows": ComplementaryLabels([0, 0, 0], [], [0, 1, 2], confirmed=[2, 0]),
    "only yes": labels_from_answers([0, 1], [0, 1], [1, 1], 2, 3),
    "only no": labels_from_answers([0, 1], [0, 1], [0, 0], 2, 3),
    "only skipped": labels_from_answers([0, 1], [0, 1], [-1, -1], 2, 3),
    "no to every class": labels_from_answers([0, 0, 1], [0, 1, 1], [0, 0, 1], 2, 2),
    "no questions": labels_from_answers([], [], [], 3, 3),
    "60 classes, one exclusion": uniform(np.arange(300) % 60, seed=0),
    "60 classes, several exclusions": scar(np.arange(300) % 60, c=0.3, seed=0),
    "60 classes, answers": ask(np.arange(300) % 60, questions=10, seed=0),
    "200 classes, one exclusion": uniform(np.arange(400) % 200, seed=0),
    "200 classes, several exclusions": scar(np.arange(400) % 200, c=0.3, seed=0),
    "200 classes, answers": ask(np.arange(400) % 200, questions=10, seed=0),
    "200 classes, labels that say nothing": ComplementaryLabels.from_lists([[]] * 5, classes=200),
}


@pytest.mark.parametrize("case", LITTLE_DATA)
def test_label_model_of_little_data_is_finite(case):
    model = fit_label_model(LITTLE_DATA[case])
    assert np.isfinite(model.prior_draws).all()
    assert model.prior_draws.sum(axis=1) == pytest.approx(1)
    assert model.priors.sum() == pytest.approx(1)
    assert (model.priors >= 0).all()


def test_prior_interval_of_empty_labels_is_wide():
    low, high = fit_label_model(LITTLE_DATA["labels that say nothing"]).prior_interval()
    assert (low < 0.05).all()
    assert (high > 0.75).all()


def test_label_model_of_many_rows_is_close_to_truth():
    y = np.random.default_rng(0).choice(Q, 30_000, p=PRIORS)
    model = fit_label_model(scar(y, c=EXCLUSION_PROBABILITIES, classes=Q, seed=1))
    assert model.priors == pytest.approx(PRIORS, abs=0.03)
    answers = fit_label_model(ask(y, questions=2, classes=Q, seed=1, false_negative_rate=0.1))
    assert answers.errors.false_negative == pytest.approx(0.1, abs=0.03)
