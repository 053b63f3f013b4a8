"""`score` and `report` of a fitted classifier, on test rows, on training rows and out of fold."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import scarce
from scarce import ScarceClassifier
from scarce.errors import AccuracyWarning
from scarce.metrics import complementary_accuracy
from scarce.simulate import ask, biased_a, uniform

X, Y = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
TRAIN, TEST = ORDER[:1000], ORDER[1000:]


def alarm_names(report):
    return [alarm.name for alarm in report.alarms]


@pytest.fixture(scope="module")
def stack():
    return ScarceClassifier(module="linear").fit(X[TRAIN], uniform(Y[TRAIN], seed=0))


def test_score_equals_accuracy_of_report(stack):
    labels = uniform(Y[TEST], seed=1)
    report = stack.report(X[TEST], labels)
    assert stack.score(X[TEST], labels) == report.accuracy.value
    assert alarm_names(report) == []
    assert report.accuracy.low < stack.score(X[TEST], Y[TEST]) < report.accuracy.high


def test_score_warns_about_training_rows(stack):
    with pytest.warns(
        AccuracyWarning, match="trained-on-these: 100% of these examples have the features of training"
    ):
        stack.score(X[TRAIN], uniform(Y[TRAIN], seed=5))


def test_report_ignores_learned_priors(stack):
    labels = uniform(Y[TEST], seed=1)
    before = stack.report(X[TEST], labels)
    kept = stack.prior_estimate_
    believed = np.full(10, 0.12 / 9)
    believed[3] = 0.88
    try:
        stack.prior_estimate_ = type(kept)(believed, "learned by luck", believed, classes=kept.classes)
        after = stack.report(X[TEST], labels)
    finally:
        stack.prior_estimate_ = kept
    assert after.accuracy == before.accuracy
    assert alarm_names(after) == ["learned-priors"]


def test_report_uses_given_priors():
    labels = uniform(Y[TRAIN], seed=0)
    priors = np.full(10, 0.05)
    priors[3] = 0.55
    classifier = ScarceClassifier("cc", "linear", priors=priors, epochs=20, learning_rate=0.03).fit(
        X[TRAIN], labels
    )
    test_labels = uniform(Y[TEST], seed=1)
    predicted = classifier.predict(X[TEST])
    report = classifier.report(X[TEST], test_labels)
    assert report.label_model.source == "given"
    assert report.accuracy == complementary_accuracy(predicted, test_labels, priors)
    others = classifier.report(X[TEST], test_labels, np.full(10, 0.1))
    assert others.accuracy == complementary_accuracy(predicted, test_labels, np.full(10, 0.1))


@pytest.mark.parametrize("method", ["auto", "answers"])
def test_report_uses_learned_error_rates(method):
    """One question about each example: error rates cannot be identified from the answers alone."""
    answers = [ask(Y[rows], questions=1, false_negative_rate=0.1, false_positive_rate=0.05, seed=seed)
               for seed, rows in enumerate((TRAIN, TEST))]  # fmt: skip
    settings = (
        {"module": "linear"} if method == "auto" else {"method": method, "module": "linear", "epochs": 60}
    )
    classifier = ScarceClassifier(**settings).fit(X[TRAIN], answers[0])
    rates = classifier.learned_error_rates()
    assert 0 < rates.false_negative < 0.3
    report = classifier.report(X[TEST], answers[1])
    assert report.label_model.error_source == "learned"
    assert report.accuracy.low < classifier.score(X[TEST], Y[TEST]) < report.accuracy.high


def test_learned_error_rates_round_trip_through_saving(tmp_path):
    answers = ask(Y[TRAIN], questions=1, false_negative_rate=0.1, false_positive_rate=0.05, seed=0)
    classifier = ScarceClassifier("answers", "linear", epochs=20).fit(X[TRAIN], answers)
    classifier.save(tmp_path / "model")
    again = scarce.load(tmp_path / "model").learned_error_rates()
    assert (again.false_negative, again.false_positive) == pytest.approx(
        (classifier.learned_error_rates().false_negative, classifier.learned_error_rates().false_positive)
    )


def test_held_out_report_of_stack_covers_true_accuracy(stack):
    report = stack.held_out_report_
    assert alarm_names(report) == []
    assert report.n_examples == len(TRAIN)
    assert report.accuracy.low < stack.score(X[TEST], Y[TEST]) < report.accuracy.high


@pytest.mark.slow
def test_held_out_report_of_stack_detects_biased_labels():
    classifier = ScarceClassifier(module="linear").fit(X[TRAIN], biased_a(Y[TRAIN], seed=0))
    assert "scar-violated" in alarm_names(classifier.held_out_report_)


def test_training_rows_round_trip_through_saving(stack, tmp_path):
    stack.save(tmp_path / "model")
    again = scarce.load(tmp_path / "model")
    assert alarm_names(again.report(X[TRAIN], uniform(Y[TRAIN], seed=3)))[0] == "trained-on-these"
    assert alarm_names(again.report(X[TEST], uniform(Y[TEST], seed=3))) == []
