"""The report of a classifier without true labels: equal to scikit-learn for complete labels, as text and as JSON."""

import json

import numpy as np
import pytest
from helpers.populations import (
    ACCURACY,
    EXCLUSION_PROBABILITIES,
    JOINT,
    LABEL_KINDS,
    PRIORS,
    Q,
    draw_predictions,
    labels_from_answers,
    whole_population_of_answers,
    whole_population_with_errors,
)
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)

from scarce.errors import FeatureError, LabelError, MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    ErrorRates,
    complementary_accuracy,
    complementary_report,
    fit_label_model,
)
from scarce.simulate import ask, scar, uniform

NO_ERRORS = ErrorRates(0.0, 0.0)

# Complete labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given_priors"), [("exclusions", True), ("answers", True), ("answers", False)]
)
def test_report_of_complete_labels_equals_scikit_learn(kind, given_priors):
    """If all wrong classes are excluded, or all questions asked, every number equals scikit-learn's."""
    y, predicted = draw_predictions(np.random.default_rng(0), 900)
    labels = scar(y, c=1, classes=Q) if kind == "exclusions" else ask(y, questions=Q, classes=Q)
    priors = np.bincount(y) / 900 if given_priors else None
    report = complementary_report(predicted, labels, fit_label_model(labels, priors, errors=NO_ERRORS))
    assert report.accuracy.value == pytest.approx(accuracy_score(y, predicted))
    assert report.confusion == pytest.approx(confusion_matrix(y, predicted).T / 900)
    assert report.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, predicted))
    recalls, precisions = (
        recall_score(y, predicted, average=None),
        precision_score(y, predicted, average=None),
    )
    assert [one.recall.value for one in report.classes] == pytest.approx(recalls.tolist())
    assert [one.precision.value for one in report.classes] == pytest.approx(precisions.tolist())
    assert [one.predicted for one in report.classes] == pytest.approx((np.bincount(predicted) / 900).tolist())
    assert [one.prior.value for one in report.classes] == pytest.approx((np.bincount(y) / 900).tolist())


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(30, 80))
def test_report_of_any_predictions_equals_scikit_learn(seed, q, n):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % q)
    predicted = np.where(rng.random(n) < rng.random(), y, rng.integers(0, q, n))
    report = complementary_report(predicted, scar(y, c=1, classes=q), np.bincount(y) / n)
    assert report.accuracy.value == pytest.approx(accuracy_score(y, predicted))
    assert report.confusion == pytest.approx(confusion_matrix(y, predicted).T / n)
    if report.balanced_accuracy is not None:
        assert report.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, predicted))
    for k, one in enumerate(report.classes):
        if one.recall is not None:
            assert one.recall.value == pytest.approx((predicted[y == k] == k).mean())
            assert one.recall.low <= one.recall.value <= one.recall.high
        if one.precision is not None:
            assert one.precision.value == pytest.approx((y[predicted == k] == k).mean())
            assert one.precision.low <= one.precision.value <= one.precision.high


def test_report_of_population_is_exact():
    predicted, labels = whole_population_of_answers(2, 0.1, 0.2)
    report = complementary_report(predicted, labels, fit_label_model(labels, errors=ErrorRates(0.1, 0.2)))
    recalls = JOINT.diagonal() / PRIORS
    assert report.accuracy.value == pytest.approx(ACCURACY)
    assert report.balanced_accuracy.value == pytest.approx(recalls.mean())
    assert [one.recall.value for one in report.classes] == pytest.approx(recalls.tolist())
    assert [one.precision.value for one in report.classes] == pytest.approx(
        (JOINT.diagonal() / JOINT.sum(axis=1)).tolist()
    )
    assert (report.n_examples, report.n_labels) == (400_000, 800_000)


# Scores ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "scar", "question"])
def test_intervals_of_recall_and_precision_cover_truth(kind):
    """All three classes have enough labels here."""
    rng, covered = np.random.default_rng(8), []
    recalls, precisions = JOINT.diagonal() / PRIORS, JOINT.diagonal() / JOINT.sum(axis=1)
    for seed in range(40):
        y, predicted = draw_predictions(rng, 1500)
        report = complementary_report(predicted, LABEL_KINDS[kind](y, 4000 + seed))
        found = [report.balanced_accuracy, *(one.recall for one in report.classes)]
        found += [one.precision for one in report.classes]
        truths = [recalls.mean(), *recalls, *precisions]
        covered += [s.low <= t <= s.high for s, t in zip(found, truths, strict=True) if s is not None]
    assert len(covered) > 0.8 * 40 * 7
    assert np.mean(covered) > 0.93


def test_higher_level_gives_wider_intervals():
    y, predicted = draw_predictions(np.random.default_rng(0), 1000)
    labels = uniform(y, classes=Q, seed=1)
    narrow, wide = (complementary_report(predicted, labels, level=level) for level in (0.5, 0.99))
    assert (narrow.accuracy.level, wide.accuracy.level) == (0.5, 0.99)
    for less, more in [
        (narrow.accuracy, wide.accuracy),
        (narrow.balanced_accuracy, wide.balanced_accuracy),
        (narrow.classes[0].recall, wide.classes[0].recall),
        (narrow.classes[0].precision, wide.classes[0].precision),
        (narrow.classes[0].prior, wide.classes[0].prior),
    ]:
        assert less.value == more.value
        assert more.low < less.low < less.high < more.high


def test_report_omits_scores_that_are_not_identified():
    """Class 3 is never excluded, class 2 is never predicted."""
    y = np.arange(400) % 3
    labels = uniform(np.repeat(y, 3), classes=3, seed=0)
    wide = ComplementaryLabels(labels.indptr, labels.indices, np.arange(4))
    predicted = np.where(np.repeat(y, 3) == 2, 3, np.repeat(y, 3))
    report = complementary_report(predicted, wide, [0.3, 0.3, 0.2, 0.2])
    assert report.balanced_accuracy is None
    assert report.classes[3].recall is None
    assert report.classes[3].precision is None
    assert report.classes[2].precision is None
    assert report.classes[0].recall is not None


# If labels are wrong -----------------------------------------------------------------------------------------------


def test_accuracy_if_labels_are_wrong_is_exact_for_population():
    predicted, labels = whole_population_with_errors(0.05)
    report = complementary_report(predicted, labels, PRIORS)
    assert report.if_labels_are_wrong.value == pytest.approx(ACCURACY)
    assert report.accuracy.value < ACCURACY - 0.02
    assert report.if_labels_are_wrong.low == pytest.approx(report.accuracy.value)
    assert report.if_labels_are_wrong.high == pytest.approx(ACCURACY)


def test_accuracy_if_labels_are_wrong_equals_known_error_rates():
    y, predicted = draw_predictions(np.random.default_rng(0), 1000)
    labels = scar(y, c=EXCLUSION_PROBABILITIES, classes=Q, seed=1)
    known = fit_label_model(labels, PRIORS, errors=ErrorRates(0.05, 0.0))
    expected = complementary_accuracy(predicted, labels, known).value
    assert complementary_report(predicted, labels, PRIORS).if_labels_are_wrong.value == pytest.approx(
        expected
    )
    assert complementary_report(predicted, labels, known).if_labels_are_wrong is None


@pytest.mark.parametrize("kind", ["question", "questions", "wrong answers"])
def test_report_with_learned_error_rates_assumes_none(kind):
    y, predicted = draw_predictions(np.random.default_rng(0), 1000)
    report = complementary_report(predicted, LABEL_KINDS[kind](y, 1))
    assert report.label_model.error_source == "learned"
    assert report.if_labels_are_wrong is None
    assert "label error rates             learned: false negatives " in str(report)


# Confusions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["uniform", "scar", "answers"])
def test_most_confused_finds_planted_confusion(kind, seed):
    """A third of the cows are predicted as horses: 1/18 of all examples."""
    classes = np.array(["cat", "cow", "dog", "horse", "owl", "pig"])
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, 6000)
    predicted = np.where((y == 1) & (rng.random(6000) < 1 / 3), 3, y)
    make = {"uniform": uniform, "scar": lambda y, **how: scar(y, c=0.4, **how), "answers": ask}[kind]
    report = complementary_report(classes[predicted], make(classes[y], classes=classes, seed=seed))
    predicted_name, true, fraction, error = report.most_confused()[0]
    assert (predicted_name, true) == ("horse", "cow")
    assert fraction == pytest.approx(1 / 18, abs=4 * error)
    assert "  cow predicted as horse: " in str(report)
    assert len(report.most_confused(0)) == 0


def test_most_confused_sorts_by_fraction():
    y, predicted = draw_predictions(np.random.default_rng(0), 20_000)
    labels = ask(y, questions=3, classes=Q, seed=1)
    report = complementary_report(predicted, labels, fit_label_model(labels, errors=NO_ERRORS))
    found = report.most_confused(10)
    assert len(found) == 6  # all confusions occur
    assert found == sorted(found, key=lambda one: -one[2])
    for predicted_name, true, fraction, error in found:
        assert fraction == pytest.approx(JOINT[predicted_name, true], abs=4 * error)


# Text and JSON ---------------------------------------------------------------------------------------------------

LONG = [f"a class with a rather long name that goes on and on, number {k}" for k in range(60)]


@pytest.mark.parametrize(
    "names", [["cat", "dog", "猫"], LONG[:5], LONG, [0, 1]], ids=["short", "long", "many", "numbers"]
)
def test_class_lines_fit_width(names):
    q = len(names)
    y = np.arange(50 * q) % q
    labels = uniform(y, classes=q, seed=0)
    report = complementary_report(
        np.array(names)[y], ComplementaryLabels(labels.indptr, labels.indices, names)
    )
    for width, lines in ((100, report.class_lines()), (80, report.class_lines(80))):
        table = lines[: lines.index(CONFUSIONS)] if CONFUSIONS in lines else lines
        assert max(map(cell_len, table)) <= width
        assert table[0].split()[:3] == ["class", "precision", "recall"]
        assert len([line for line in table if line.startswith(str(names[0]).split()[0])]) >= 1
        assert (f"... and {q - 20} more classes" in table) == (q > 20)


CONFUSIONS = "largest confusions (percent of all examples):"


def test_report_prints_accuracy_priors_and_alarms():
    y, predicted = draw_predictions(np.random.default_rng(0), 1000)
    report = complementary_report(predicted, uniform(y, classes=Q, seed=1), PRIORS)
    text = str(report)
    assert text.startswith(f"accuracy without true labels  {report.accuracy}")
    assert f"balanced accuracy             {report.balanced_accuracy.value:.4f} (" in text
    assert "priors                        given" in text
    assert "with up to 5% wrong labels    " in text
    assert "ALARM" not in text
    constant = complementary_report(np.zeros(1000, int), uniform(y, classes=Q, seed=1))
    assert "priors                        estimated from these labels" in str(constant)
    assert [line for line in str(constant).splitlines() if line.startswith("ALARM")] == [
        f"ALARM {alarm.name}: {alarm.message}" for alarm in constant.alarms
    ]


def check_json(report):
    content = report.as_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    return content


@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_report_as_dict_holds_every_number(kind):
    y, predicted = draw_predictions(np.random.default_rng(0), 800)
    report = complementary_report(predicted, LABEL_KINDS[kind](y, 1))
    content = check_json(report)
    assert content["accuracy"] == report.accuracy.value
    assert (content["low"], content["high"], content["level"]) == (
        report.accuracy.low,
        report.accuracy.high,
        0.95,
    )
    assert content["standard_error"] == report.accuracy.standard_error
    assert content["confusion"] == report.confusion.tolist()
    assert content["confusion_errors"] == report.confusion_errors.tolist()
    assert content["balanced_accuracy"] == dict(
        zip(("value", "low", "high"), report.balanced_accuracy, strict=True)
    )
    for one, found in zip(content["classes"], report.classes, strict=True):
        for score in ("recall", "precision"):
            of_class = getattr(found, score)
            assert one[score] == (None if of_class is None else of_class._asdict())
    assert [one["prior"]["value"] for one in content["classes"]] == report.label_model.priors.tolist()
    assert [one["name"] for one in content["classes"]] == ["0", "1", "2"]
    assert content["priors_from"] == report.label_model.source
    assert content["errors_from"] == report.label_model.error_source
    assert content["false_negative_rate"] == report.label_model.errors.false_negative
    assert (content["n_examples"], content["n_labels"]) == (800, report.n_labels)
    assert content["alarms"] == [{"name": alarm.name, "message": alarm.message} for alarm in report.alarms]


def test_report_is_deterministic():
    y, predicted = draw_predictions(np.random.default_rng(0), 500)
    labels = LABEL_KINDS["wrong answers"](y, 1)
    assert (
        complementary_report(predicted, labels).as_dict() == complementary_report(predicted, labels).as_dict()
    )


# Little data ------------------------------------------------------------------------------------------------------

LITTLE_DATA = {
    "labels that say nothing": ComplementaryLabels.from_lists([[], [], []], classes=3),
    "one row": ComplementaryLabels.from_lists([[1]], classes=3),
    "two classes": ComplementaryLabels.from_single([0, 1, 1], classes=2),
    "two classes, some rows without a label": ComplementaryLabels.from_lists([[0], [1], []], classes=2),
    "a class that no example excludes": ComplementaryLabels.from_single([0, 1] * 30, classes=3),
    "one class that everybody excludes": ComplementaryLabels.from_single([2] * 30, classes=3),
    "all classes but one excluded": ComplementaryLabels.from_lists([[0, 1], [0, 2], [1, 2]], classes=3),
    "few labels among many rows": ComplementaryLabels.from_lists([[0], [1], *[[]] * 200], classes=3),
    "confirmed rows": ComplementaryLabels([0, 1, 1, 1], [2], [0, 1, 2], confirmed=[-1, 0, 1]),
    "only confirmed rows": ComplementaryLabels([0, 0, 0], [], [0, 1, 2], confirmed=[2, 0]),
    "only yes": labels_from_answers([0, 1], [0, 1], [1, 1], 2, 3),
    "only no": labels_from_answers([0, 1], [0, 1], [0, 0], 2, 3),
    "only skipped": labels_from_answers([0, 1], [0, 1], [-1, -1], 2, 3),
    "some rows without questions": labels_from_answers([0, 2], [0, 2], [1, 0], 6, 3),
    "no to every class": labels_from_answers([0, 0, 1], [0, 1, 1], [0, 0, 1], 2, 2),
    "60 classes, one exclusion": uniform(np.arange(600) % 60, seed=0),
    "60 classes, several exclusions": scar(np.arange(600) % 60, c=0.3, seed=0),
    "60 classes, answers": ask(np.arange(600) % 60, questions=10, seed=0),
    "200 classes, one exclusion": uniform(np.arange(400) % 200, seed=0),
    "200 classes, several exclusions": scar(np.arange(400) % 200, c=0.3, seed=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("errors", [None, ErrorRates(0.05, 0.02)], ids=["right", "wrong"])
@pytest.mark.parametrize("case", LITTLE_DATA)
def test_report_of_little_data_is_finite(case, errors):
    labels = LITTLE_DATA[case]
    n, q = labels.shape
    priors = np.full(q, 1 / q)
    for known in (None, priors):
        model = fit_label_model(labels, known, errors=errors)
        for predicted in (np.arange(n) % q, np.zeros(n, int), np.full(n, q - 1)):
            report = complementary_report(
                predicted, labels, model, confidence=np.linspace(0, 1, n), learned_priors=priors
            )
            check_json(report)
            assert 0 <= report.accuracy.low <= report.accuracy.high <= 1
            assert str(report).startswith("accuracy without true labels")


@st.composite
def any_predictions_and_labels(draw):
    n, q = draw(st.integers(1, 25)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, q, n)
    excluded = rng.random((n, q)) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    excluded[np.arange(n), y] = False
    confirmed = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.5])), y, -1)
    plain = ComplementaryLabels.from_indicator(excluded, q)
    labels = ComplementaryLabels(plain.indptr, plain.indices, plain.classes, confirmed=confirmed)
    predicted = draw(st.sampled_from([y, rng.integers(0, q, n), np.zeros(n, int)]))
    return predicted, labels, draw(st.sampled_from([0.0, 0.01, 0.2, 0.9]))


@pytest.mark.slow
@given(any_predictions_and_labels())
def test_report_of_any_labels_is_finite(case):
    predicted, labels, error = case
    model = fit_label_model(labels, errors=ErrorRates(error, 0.0) if error else None)
    content = check_json(complementary_report(predicted, labels, model))
    assert 0 <= content["low"] <= content["high"] <= 1
    if labels.per_example.sum() == 0:
        assert (content["accuracy"], content["high"]) == (pytest.approx(1), pytest.approx(1))
        assert content["low"] < 0.5


@pytest.mark.parametrize(
    ("predicted", "how", "error", "message"),
    [
        ([0], {}, FeatureError, r"the predictions have shape \(1,\); expected \(2,\)"),
        ([0, 7], {}, LabelError, "the prediction 7 is not one of the classes"),
        ([0, 1], {"priors": [0.5, 0.5]}, PriorError, "expected 3 numbers"),
        ([0, 1], {"level": 95}, MethodError, "level=95; expected a number above 0 and below 1"),
    ],
)
def test_report_rejects_invalid_input(predicted, how, error, message):
    with pytest.raises(error, match=message):
        complementary_report(predicted, ComplementaryLabels.from_single([0, 1], classes=3), **how)


@pytest.mark.parametrize(("q", "n"), [(10, 2000), (20, 1000)])
def test_most_confused_is_empty_for_flawless_classifier(q, n):
    """There are hundreds of cells, of which one in forty would exceed two standard errors by chance."""
    y = np.random.default_rng(0).integers(0, q, n)
    for seed in range(5):
        assert complementary_report(y, uniform(y, classes=q, seed=seed)).most_confused() == []


def test_report_rejects_confidence_and_model_of_other_labels():
    y = np.arange(30) % 3
    labels = uniform(y, seed=0)
    with pytest.raises(FeatureError, match=r"the confidence has shape \(29,\); expected 30 numbers"):
        complementary_report(y, labels, confidence=np.ones(29))
    other = fit_label_model(uniform(np.arange(30) % 4, seed=0))
    with pytest.raises(PriorError, match="the label model has 4 classes and the labels have 3"):
        complementary_report(y, labels, other)
    with pytest.raises(PriorError, match=r"bounds of shape \(2,\) and \(2,\); expected 3 numbers each"):
        fit_label_model(labels, [0.3, 0.3, 0.4], prior_interval=([0.1, 0.1], [0.5, 0.5]))
