"""Alarms about an estimated accuracy: each is raised if its assumption fails, and none otherwise."""

import numpy as np
import pytest
from helpers.populations import labels_from_answers
from hypothesis import given
from hypothesis import strategies as st

from scarce.labels import ComplementaryLabels
from scarce.metrics import Alarm, ErrorRates, complementary_report, fit_label_model
from scarce.simulate import (
    ask,
    biased_a,
    from_transition,
    scar,
    scar_unequal,
    uniform,
    uniform_transition,
    with_errors,
)

Q, N = 10, 2000
SEEDS = range(3)


def classifier(seed, n=N, accuracy=0.9, priors=None):
    """True classes, predictions that are right with the given probability, and an informative confidence."""
    rng = np.random.default_rng(100 + seed)
    y = rng.choice(Q, n, p=priors)
    right = rng.random(n) < accuracy
    predicted = np.where(right, y, (y + rng.integers(1, Q, n)) % Q)
    return y, predicted, np.where(right, rng.uniform(0.4, 1, n), rng.uniform(0.1, 0.6, n))


def alarm_names(report):
    return [alarm.name for alarm in report.alarms]


# No alarm expected ------------------------------------------------------------------------------------------------

SKEWED = np.array([0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05])
UNBIASED_LABELS = {
    "uniform": lambda y, seed: uniform(y, classes=Q, seed=seed),
    "SCAR": lambda y, seed: scar(y, c=0.3, classes=Q, seed=seed),
    "unequal SCAR": lambda y, seed: scar_unequal(y, low=0.1, high=0.6, classes=Q, seed=seed),
    "all other classes": lambda y, seed: scar(y, c=1, classes=Q),
    "one question": lambda y, seed: ask(y, classes=Q, seed=seed),
    "three questions": lambda y, seed: ask(y, questions=3, classes=Q, seed=seed),
    "three questions, wrong answers": lambda y, seed: ask(
        y, questions=3, classes=Q, seed=seed, false_negative_rate=0.1, false_positive_rate=0.02
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", UNBIASED_LABELS)
def test_good_predictions_raise_no_alarm(kind, seed):
    for priors in (None, SKEWED):
        y, predicted, confidence = classifier(seed, priors=priors)
        labels, true = UNBIASED_LABELS[kind](y, seed), np.bincount(y, minlength=Q) / N
        assert (
            alarm_names(complementary_report(predicted, labels, confidence=confidence, learned_priors=true))
            == []
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["uniform", "SCAR", "one question", "all other classes"])
def test_flawless_predictions_raise_no_alarm(kind, seed):
    """The estimate is 1 up to rounding, which must not count as too large."""
    y, *_ = classifier(seed)
    labels = UNBIASED_LABELS[kind](y, seed)
    for model in (None, np.bincount(y, minlength=Q) / N):
        assert alarm_names(complementary_report(y, labels, model)) == []


def test_known_errors_raise_no_alarm():
    y, predicted, confidence = classifier(0)
    labels = from_transition(y, with_errors(uniform_transition(Q), 0.03), classes=Q, seed=0)
    model = fit_label_model(labels, np.bincount(y) / N, errors=ErrorRates(0.03, 0.0))
    assert alarm_names(complementary_report(predicted, labels, model, confidence=confidence)) == []


# Alarm expected ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["uniform", "SCAR", "one question"])
@pytest.mark.parametrize("k", [0, 7])
def test_constant_predictions_raise_alarm(kind, k, seed):
    y, *_ = classifier(seed)
    found = alarm_names(complementary_report(np.full(N, k), UNBIASED_LABELS[kind](y, seed)))
    assert found[:2] == ["impossible-shares", "no-better-than-constant"]


@pytest.mark.parametrize("kind", ["uniform", "SCAR", "one question"])
def test_constant_predictions_of_most_common_class_raise_alarm(kind):
    """The estimate equals the largest prior and must not count as larger because of rounding."""
    for seed in range(10):
        y, *_ = classifier(seed, n=500, priors=SKEWED)
        labels = UNBIASED_LABELS[kind](y, seed)
        model = fit_label_model(labels)
        report = complementary_report(np.full(500, model.priors.argmax()), labels, model)
        assert "no-better-than-constant" in alarm_names(report)


@pytest.mark.parametrize("kind", ["uniform", "SCAR", "one question"])
def test_learned_priors_contradicted_by_labels_raise_alarm(kind):
    """Equal exclusion probabilities of uniform labels are not assumed, so large priors are sometimes possible."""
    belief, fired = np.array([0.88, *[0.12 / 9] * 9]), []
    for seed in range(8):
        y, predicted, _ = classifier(seed)
        report = complementary_report(predicted, UNBIASED_LABELS[kind](y, seed), learned_priors=belief)
        fired.append(alarm_names(report) == ["learned-priors"])
        for alarm in report.alarms:
            assert "learned a prior of 88% for class 0" in alarm.message
    assert sum(fired) >= (7 if kind == "uniform" else 8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["uniform", "SCAR", "one question"])
def test_random_guesses_raise_alarm(kind, seed):
    y, *_ = classifier(seed)
    guesses = np.random.default_rng(seed).integers(0, Q, N)
    assert alarm_names(complementary_report(guesses, UNBIASED_LABELS[kind](y, seed))) == [
        "no-better-than-constant"
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_predicted_class_never_excluded_raises_alarm(seed):
    y, predicted, _ = classifier(seed)
    transition = uniform_transition(Q)
    transition[:, 3] = 0
    labels = from_transition(y, transition / transition.sum(axis=1, keepdims=True), classes=Q, seed=seed)
    report = complementary_report(predicted, labels)
    assert alarm_names(report) == ["unidentified"]
    fraction = f"{(predicted == 3).mean():.0%} of the predictions are of classes that no example excludes (3)"
    assert report.alarms[0].message.startswith(fraction)
    assert report.accuracy.unseen == (3,)


def test_predicted_class_never_asked_about_raises_alarm():
    y, predicted, _ = classifier(0)
    labels = ask(y, rates=np.where(np.arange(Q) == 3, 0.0, 0.2), classes=Q, seed=0)
    report = complementary_report(predicted, labels)
    assert alarm_names(report)[0] == "unidentified"
    assert "classes that no question asks about (3)" in report.alarms[0].message
    assert report.accuracy.unseen == (3,)


@pytest.mark.parametrize("seed", SEEDS)
def test_overstated_error_rates_raise_alarm(seed):
    y, *_ = classifier(seed)
    labels = uniform(y, classes=Q, seed=seed)
    model = fit_label_model(labels, np.full(Q, 1 / Q), errors=ErrorRates(0.05, 0.0))
    report = complementary_report(y, labels, model)
    assert "unidentified" in alarm_names(report)
    assert "which is impossible" in report.alarms[alarm_names(report).index("unidentified")].message


@pytest.mark.parametrize("seed", SEEDS)
def test_biased_labels_raise_alarm(seed):
    y, predicted, confidence = classifier(seed)
    labels = biased_a(y, classes=Q, seed=seed)
    assert "scar-violated" in alarm_names(complementary_report(predicted, labels))
    assert "scar-violated" in alarm_names(complementary_report(predicted, labels, np.full(Q, 1 / Q)))
    assert "scar-violated" in alarm_names(complementary_report(predicted, labels, confidence=confidence))


@pytest.mark.parametrize("seed", SEEDS)
def test_candidate_sets_of_similar_classes_raise_alarm(seed):
    """Candidates are the true class and, half of the time, the next class."""
    y, predicted, _ = classifier(seed, n=1000)
    candidates = np.eye(Q, dtype=int)[y]
    confused = np.random.default_rng(seed).random(1000) < 0.5
    candidates[confused, (y[confused] + 1) % Q] = 1
    labels = ComplementaryLabels.from_candidates(candidates)
    assert "scar-violated" in alarm_names(complementary_report(predicted, labels))


@pytest.mark.parametrize("seed", SEEDS)
def test_classes_excluded_together_raise_alarm(seed):
    """Random pairs are excluded together: "not 0 and not 1", "not 2 and not 3", ..."""
    y, predicted, _ = classifier(seed)
    pair = 2 * np.random.default_rng(seed).integers(0, Q // 2, N)
    excluded = np.zeros((N, Q), bool)
    excluded[np.arange(N), pair] = excluded[np.arange(N), pair + 1] = True
    excluded[np.arange(N), y] = False
    report = complementary_report(predicted, ComplementaryLabels.from_indicator(excluded))
    assert alarm_names(report) == ["scar-violated"]
    assert "not excluded independently of each other" in report.alarms[0].message
    # Priors estimated under SCAR no longer count as evidence; only the exclusion rates do.
    for believed, expected in ((0.55, ["scar-violated"]), (0.95, ["learned-priors", "scar-violated"])):
        priors = np.full(Q, (1 - believed) / (Q - 1))
        priors[0] = believed
        labels = ComplementaryLabels.from_indicator(excluded)
        assert alarm_names(complementary_report(predicted, labels, learned_priors=priors)) == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fraction", [0.3, 1.0])
def test_questions_about_predicted_class_raise_alarm(fraction, seed):
    y, predicted, _ = classifier(seed)
    rng = np.random.default_rng(seed)
    asked = np.where(rng.random(N) < fraction, predicted, rng.integers(0, Q, N))
    labels = labels_from_answers(np.arange(N), asked, asked == y, N, Q)
    assert "questions-not-random" in alarm_names(complementary_report(predicted, labels))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_answers_to_single_questions_raise_alarm(seed):
    """If error rates are taken as zero: the fractions of "yes" sum to 0.9 + 9 · 0.1 = 1.8 instead of 1."""
    y, predicted, _ = classifier(seed)
    labels = ask(y, classes=Q, seed=seed, false_negative_rate=0.1, false_positive_rate=0.1)
    believed = fit_label_model(labels, errors=ErrorRates(0.0, 0.0))
    report = complementary_report(predicted, labels, believed)
    assert "wrong-answers" in alarm_names(report)
    assert report.accuracy.value < 0.87  # 1 − 0.9 · 0.1 − 0.1 · 0.9 = 0.82 is expected
    for model in (fit_label_model(labels, errors=ErrorRates(0.1, 0.1)), fit_label_model(labels)):
        report = complementary_report(predicted, labels, model)
        assert alarm_names(report) == []
        assert report.accuracy.low < 0.9 < report.accuracy.high


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_better_than_assumed_raise_alarm(seed):
    """With the assumed error rates, the fractions of "yes" should sum to 0.95 + 9 · 0.1; without errors they sum to 1."""
    y, predicted, _ = classifier(seed)
    labels = ask(y, classes=Q, seed=seed)
    model = fit_label_model(labels, errors=ErrorRates(0.05, 0.1))
    assert "wrong-answers" in alarm_names(complementary_report(predicted, labels, model))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_labels_raise_alarm_if_confidence_is_given(seed):
    """The most confident predictions are all correct, but the labels contradict them as often as all others."""
    y, predicted, confidence = classifier(seed, n=6000, accuracy=0.95)
    labels = from_transition(y, with_errors(uniform_transition(Q), 0.05), classes=Q, seed=seed)
    assert alarm_names(complementary_report(predicted, labels, confidence=confidence)) == ["wrong-labels"]
    assert alarm_names(complementary_report(predicted, labels)) == []
    known = fit_label_model(labels, np.full(Q, 1 / Q), errors=ErrorRates(0.05, 0.0))
    assert "wrong-labels" not in alarm_names(
        complementary_report(predicted, labels, known, confidence=confidence)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_too_few_labels_raise_alarm(seed):
    y, predicted, _ = classifier(seed, n=15)
    assert "few-labels" in alarm_names(complementary_report(predicted, uniform(y, classes=Q, seed=seed)))
    assert "few-labels" in alarm_names(
        complementary_report(predicted, ComplementaryLabels.from_lists([[]] * 15, Q))
    )


# Format ------------------------------------------------------------------------------------------------------------


def test_alarm_prints_name_and_sentence():
    assert str(Alarm("few-labels", "the interval is wide.")) == "few-labels: the interval is wide."
    y, *_ = classifier(0)
    for alarm in complementary_report(np.zeros(N, int), uniform(y, classes=Q, seed=0)).alarms:
        assert alarm.message.endswith(".")
        assert "\n" not in alarm.message


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 5), st.sampled_from([0.05, 0.3, 1.0]))
def test_report_of_partly_answered_examples_is_finite(seed, n, q, fraction):
    """Even if a class is predicted only for examples without questions, or is never asked about."""
    rng = np.random.default_rng(seed)
    rows, asked = np.nonzero(rng.random((n, q)) < fraction)
    answers = rng.choice([-1, 0, 1], len(rows))
    labels = labels_from_answers(rows, asked, answers, n, q)
    report = complementary_report(rng.integers(0, q, n), labels, confidence=rng.random(n))
    assert np.isfinite([report.accuracy.value, report.accuracy.standard_error]).all()
