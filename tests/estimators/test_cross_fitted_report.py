"""Classifiers that know how good they are: reports, warnings, held-out predictions, and model selection that cannot be fooled."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

import scarce
from scarce import ScarceClassifier
from scarce.errors import AccuracyWarning, LabelError
from scarce.estimators import cross_fitted_report
from scarce.estimators.training_rows import TrainingRows
from scarce.metrics import LabelModel, complementary_accuracy, make_complementary_scorer
from scarce.simulate import ask, biased_a, scar, uniform
from scarce.testing import three_blobs

X, Y = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
TRAIN, TEST = ORDER[:1000], ORDER[1000:]


def names(report):
    return [alarm.name for alarm in report.alarms]


@pytest.fixture(scope="module")
def stack():
    return ScarceClassifier(module="linear").fit(X[TRAIN], uniform(Y[TRAIN], seed=0))


class Believer(ClassifierMixin, BaseEstimator):
    """Believes one class to be common, and says it nearly always; before, such a fit was its own judge."""

    def __init__(self, believed=3):
        self.believed = believed

    def fit(self, X, y):
        self.classes_ = y.classes
        self.priors_ = np.full(10, 0.12 / 9)
        self.priors_[self.believed] = 0.88
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) % 10 == 0, 4, self.believed)


# The report of a classifier.


def test_score_is_the_accuracy_of_the_report(stack):
    labels = uniform(Y[TEST], seed=1)
    report = stack.report(X[TEST], labels)
    assert stack.score(X[TEST], labels) == report.accuracy.value
    assert names(report) == []
    assert report.accuracy.low < stack.score(X[TEST], Y[TEST]) < report.accuracy.high


def test_score_warns_of_training_rows(stack):
    with pytest.warns(
        AccuracyWarning, match="trained-on-these: 100% of these examples have the features of training"
    ):
        stack.score(X[TRAIN], uniform(Y[TRAIN], seed=5))


def test_report_never_uses_priors_that_were_learned(stack):
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
    assert names(after) == ["learned-priors"]


def test_report_uses_priors_that_were_given():
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
def test_report_starts_from_the_error_rates_that_were_learned(method):
    """One question about each example: error rates cannot be told from the answers alone."""
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


def test_answers_of_a_loaded_classifier_keep_their_error_rates(tmp_path):
    answers = ask(Y[TRAIN], questions=1, false_negative_rate=0.1, false_positive_rate=0.05, seed=0)
    classifier = ScarceClassifier("answers", "linear", epochs=20).fit(X[TRAIN], answers)
    classifier.save(tmp_path / "model")
    again = scarce.load(tmp_path / "model").learned_error_rates()
    assert (again.false_negative, again.false_positive) == pytest.approx(
        (classifier.learned_error_rates().false_negative, classifier.learned_error_rates().false_positive)
    )


# Held-out predictions.


def test_stack_knows_how_good_it_is_from_the_labels_it_was_trained_on(stack):
    report = stack.held_out_report_
    assert names(report) == []
    assert report.n_examples == len(TRAIN)
    assert report.accuracy.low < stack.score(X[TEST], Y[TEST]) < report.accuracy.high


def test_stack_notices_labels_that_depend_on_the_class():
    classifier = ScarceClassifier(module="linear").fit(X[TRAIN], biased_a(Y[TRAIN], seed=0))
    assert "scar-violated" in names(classifier.held_out_report_)


@pytest.mark.parametrize("kind", ["complementary", "ordinary"])
def test_cross_fitted_report_is_that_of_copies_that_have_not_seen_the_rows(kind):
    X, y, labels = three_blobs(60)
    target = labels if kind == "complementary" else y
    method = "cc" if kind == "complementary" else "scarce"
    classifier = ScarceClassifier(method, "linear", labels=kind, epochs=20, learning_rate=0.1)
    report = cross_fitted_report(classifier.fit(X, target), X, target)
    assert report.n_examples == 60
    if kind == "ordinary":  # then it is an accuracy in the usual sense
        order = np.random.default_rng(0).permutation(60)
        right = 0
        for start in range(4):
            fold = np.sort(order[start::4])
            rest = np.setdiff1d(np.arange(60), fold)
            right += (classifier.fit(X[rest], y[rest]).predict(X[fold]) == y[fold]).sum()
        assert report.accuracy.value == pytest.approx(right / 60, abs=1e-9)


def test_cross_fitted_report_needs_some_rows():
    X, _, labels = three_blobs(6)
    classifier = ScarceClassifier("cc", "linear", epochs=1).fit(X, labels)
    with pytest.raises(LabelError, match="6 examples are too few to hold some out; expected at least 8"):
        cross_fitted_report(classifier, X, labels)


# Rows that were trained on.


def test_overlap_of_many_rows_is_estimated_from_a_sketch():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    digest = TrainingRows.of(rows)
    assert len(digest.hashes) == 4096
    half = np.concatenate([rows[:5000], rng.normal(size=(5000, 3))])
    assert digest.overlap(half) == pytest.approx(0.5, abs=0.05)
    assert digest.overlap(rng.normal(size=(5000, 3))) == 0


def test_overlap_does_not_depend_on_the_type_of_the_numbers():
    from scipy import sparse

    rows = np.random.default_rng(0).integers(0, 5, (50, 20)).astype(np.float64)
    assert TrainingRows.of(rows).overlap(rows.astype(np.float32)) == 1
    assert TrainingRows.of(sparse.csr_matrix(rows)).overlap(sparse.csc_matrix(rows)) == 1


def test_training_rows_survive_saving(stack, tmp_path):
    stack.save(tmp_path / "model")
    again = scarce.load(tmp_path / "model")
    assert names(again.report(X[TRAIN], uniform(Y[TRAIN], seed=3)))[0] == "trained-on-these"
    assert names(again.report(X[TEST], uniform(Y[TEST], seed=3))) == []


# Model selection.


def test_search_does_not_choose_a_model_that_judges_itself():
    """With its own priors the believer scored 0.8; with those of the labels it has about a tenth."""
    labels = uniform(Y[TRAIN], seed=0)
    believer = Believer().fit(X, labels)
    assert (
        complementary_accuracy(believer.predict(X[TEST]), uniform(Y[TEST], seed=1), believer.priors_).value
        > 0.7
    )
    scorer = make_complementary_scorer()
    assert scorer(believer, X[TEST], uniform(Y[TEST], seed=1)) < 0.4

    class Chooser(BaseEstimator):
        def __init__(self, which="good"):
            self.which = which

        def fit(self, X, y):
            good = ScarceClassifier("cc", "linear", epochs=20, learning_rate=0.03)
            self.inner_ = (good if self.which == "good" else Believer()).fit(X, y)
            self.classes_ = self.inner_.classes_
            return self

        def predict(self, X):
            return self.inner_.predict(X)

    search = GridSearchCV(
        Chooser(), {"which": ["believer", "good"]}, scoring=scorer, cv=KFold(3), error_score="raise"
    )
    assert search.fit(X[TRAIN], labels).best_params_ == {"which": "good"}


def test_scorer_takes_a_label_model_that_is_fixed_for_all(stack):
    labels = scar(Y[TEST], c=0.3, seed=0)
    from scarce.metrics import fit_label_model

    model = fit_label_model(labels)
    assert isinstance(model, LabelModel)
    scorer = make_complementary_scorer(priors=model)
    expected = complementary_accuracy(stack.predict(X[TEST]), labels, model).value
    assert scorer(stack, X[TEST], labels) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make_complementary_scorer("risk", priors=model)(stack, X[TEST], labels) < 0
