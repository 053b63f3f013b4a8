"""`method="auto"`, priors that come out of the training, and what refine has counted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import scarce
from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import MethodError
from scarce.estimators.method_choice import choose_method
from scarce.methods import make_method
from scarce.metrics import complementary_accuracy, fit_label_model
from scarce.priors import BestBin
from scarce.simulate import ask, from_transition, scar
from scarce.testing import three_blobs

QUICK = {"module": "linear", "epochs": 20, "batch_size": 50, "learning_rate": 0.05}
ALWAYS_THE_NEXT = np.array([[0.0, 0.8, 0.2], [0.2, 0.0, 0.8], [0.8, 0.2, 0.0]])


@pytest.fixture(scope="module")
def blobs():
    return three_blobs(600)


@pytest.fixture(scope="module")
def unequal():
    """60, 30 and 10 % of three classes that a line tells apart."""
    X, y, _ = three_blobs(1800)
    rows = [np.nonzero(y == name)[0][:n] for name, n in (("ant", 600), ("bee", 300), ("cat", 100))]
    rows = np.concatenate(rows)
    return X[rows], y[rows]


class Never(BestBin):
    """An estimator that must not be called."""

    def estimate(self, *_, **__):
        raise AssertionError("priors were estimated")


# Which method --------------------------------------------------------------------------------------------------


def exclusions(n):
    """So many of each of two classes."""
    return ComplementaryLabels.from_single([0, 1] * n, classes=2)


ANSWERS = ComplementaryLabels.from_answer_matrix([["no", ""], ["skip", "yes"]])


@pytest.mark.parametrize(
    ("labels", "name", "stops"),
    [
        (ANSWERS, "answers", False),
        (ANSWERS[:1], "answers", False),
        (exclusions(499), "scarce", False),
        (exclusions(500), "refine", True),
        (exclusions(4999), "refine", True),
        (exclusions(5000), "refine", False),
    ],
)
def test_the_choice_is_by_what_is_known_and_how_much_of_it(labels, name, stops):
    choice = choose_method(labels)
    assert (choice.method, choice.early_stopping) == (name, stops)
    assert choice.reason.startswith(f"method: {name}, because ")
    assert ("stopped early" in choice.reason) == stops
    assert "\n" not in choice.reason


@pytest.fixture(scope="module")
def marked():
    """Two thousand points with one exclusion each: 667 per class."""
    X, y, labels = three_blobs(2000)
    return X, y, labels


@pytest.mark.parametrize("kind", ["answers", "scarce", "refine"])
def test_auto_is_the_method_of_its_choice(blobs, marked, kind):
    X, y, labels = marked if kind == "refine" else blobs
    labels = ask(y, questions=1, seed=0) if kind == "answers" else labels
    settings = {"priors": "uniform", **QUICK}
    chosen = ScarceClassifier("auto", **settings).fit(X, labels)
    named = ScarceClassifier(kind, early_stopping=kind == "refine", **settings).fit(X, labels)
    assert chosen.method_.facts.name == kind
    assert chosen.choice_.reason == choose_method(labels).reason
    assert not hasattr(named, "choice_")
    np.testing.assert_array_equal(chosen.predict_proba(X), named.predict_proba(X))
    assert chosen.score(X, y) > 0.95
    assert chosen.get_params()["method"] == "auto"


def test_the_user_decides_about_early_stopping(marked):
    X, _, labels = marked
    settings = {**QUICK, "epochs": 2}
    lengths = [
        "validation_likelihood"
        in ScarceClassifier("auto", early_stopping=stops, **settings).fit(X, labels).history_.records[0]
        for stops in (None, True, False)
    ]
    assert lengths == [True, True, False]


def test_parameters_go_to_the_chosen_method(marked):
    X, y, labels = marked
    classifier = ScarceClassifier("auto", method_params={"rounds": 1}, **QUICK).fit(X, labels)
    assert set(classifier.history_["stage"]) == {0, 1}
    with pytest.raises(MethodError, match="answers has no parameter 'rounds'"):
        classifier.fit(X, ask(y, questions=1, seed=0))


def test_the_choice_is_told_of_the_last_fit_alone(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier("auto", priors="uniform", **{**QUICK, "epochs": 1}).fit(X, labels)
    classifier.set_params(method="scarce").fit(X, labels)
    assert not hasattr(classifier, "choice_")


def test_ordinary_labels_get_the_same_classifier_by_default_and_by_name(blobs):
    X, y, _ = blobs
    by_default, named = (
        ScarceClassifier(labels="ordinary", **{**QUICK, "epochs": 2, **given}).fit(X, y)
        for given in ({}, {"method": "scarce"})
    )
    np.testing.assert_array_equal(by_default.predict_proba(X), named.predict_proba(X))
    assert not hasattr(by_default, "choice_")


# What refine has counted ---------------------------------------------------------------------------------------


def test_what_was_counted_is_told_and_kept(blobs, tmp_path):
    """A hundred rows of each class and the weight of 50 of SCAR: standard error below 0.04."""
    X, y, _ = blobs
    labels = from_transition(y, ALWAYS_THE_NEXT, seed=3)
    classifier = ScarceClassifier("refine", method_params={"scar_strength": 50.0}, **QUICK)
    with pytest.raises(NotFittedError):
        _ = classifier.C_
    assert not hasattr(classifier, "C_counts_")
    classifier.fit(X, labels)
    scar_too = (100 * ALWAYS_THE_NEXT + 50 * (1 - np.eye(3)) / 2) / 150
    np.testing.assert_allclose(classifier.C_, scar_too, atol=0.12)
    assert classifier.C_counts_.shape == (3, 3)
    assert classifier.C_counts_.sum() == pytest.approx(300, abs=3)  # half of the rows, one mark each
    classifier.save(tmp_path / "model")
    loaded = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.C_, classifier.C_)
    np.testing.assert_array_equal(loaded.C_counts_, classifier.C_counts_)
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    assert loaded.prior_estimate_.source == "learned by refine"


@pytest.mark.parametrize("name", ["C_", "C_counts_"])
def test_other_methods_count_nothing(blobs, name):
    X, _, labels = blobs
    classifier = ScarceClassifier(priors="uniform", **{**QUICK, "epochs": 1}).fit(X, labels)
    with pytest.raises(AttributeError) as error:
        getattr(classifier, name)
    assert str(error.value) == "scarce counts no exclusions; method='refine' does."


# Priors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["scar-likelihood", "refine"])
def test_learned_priors_are_those_of_the_classifier(unequal, method):
    X, y = unequal
    classifier = ScarceClassifier(method, **QUICK).fit(X, scar(y, c=[0.3, 0.5, 0.4], seed=0))
    assert classifier.prior_estimate_.source == f"learned by {method}"
    assert classifier.prior_estimate_.classes.tolist() == ["ant", "bee", "cat"]
    assert classifier.priors_ == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
    assert classifier.priors_.sum() == pytest.approx(1)
    assert classifier.prior_estimate_.raw == pytest.approx(classifier.method_.learned_priors().numpy())


@pytest.mark.parametrize("method", ["scar-likelihood", "refine"])
def test_priors_that_are_given_are_kept(unequal, method):
    X, y = unequal
    given = [0.5, 0.3, 0.2]
    labels = scar(y, c=[0.3, 0.5, 0.4], seed=0)
    classifier = ScarceClassifier(method, priors=given, **QUICK).fit(X, labels)
    assert classifier.prior_estimate_.source == "given"
    assert classifier.priors_.tolist() == given


def test_early_stopping_judges_all_epochs_by_the_priors_of_the_labels(unequal):
    """Priors that a method has learned so far would judge itself; those of the labels are the same for all epochs."""
    X, y = unequal
    X = X + np.random.default_rng(1).normal(0, 2, X.shape)  # not to be right about every row
    labels = scar(y, c=[0.3, 0.5, 0.4], seed=0)
    classifier = ScarceClassifier(
        "scar-likelihood", early_stopping=True, validation_fraction=0.3, patience=3, **QUICK
    ).fit(X, labels)
    values = classifier.history_["validation_accuracy"]
    best = values.index(max(values))
    assert len(values) in (best + 4, QUICK["epochs"])
    assert classifier.priors_.tolist() == pytest.approx(classifier.history_["priors"][best])
    held_out = np.sort(np.random.default_rng(0).permutation(len(X))[:300])
    predicted, known = classifier.predict(X[held_out]), labels[held_out]
    assert complementary_accuracy(predicted, known, fit_label_model(labels)).value == pytest.approx(
        max(values)
    )
    assert complementary_accuracy(predicted, known, classifier.priors_).value != pytest.approx(
        max(values), abs=1e-3
    )


def test_early_stopping_ends_every_stage_at_its_best_and_judges_by_the_likelihood(blobs):
    X, y, _ = blobs
    X = X + np.random.default_rng(1).normal(0, 2, X.shape)
    labels = from_transition(y, ALWAYS_THE_NEXT, seed=3)
    settings = {"validation_fraction": 0.3, "patience": 3, **QUICK, "epochs": 100}
    classifier = ScarceClassifier("refine", early_stopping=True, **settings).fit(X, labels)
    history = classifier.history_
    assert "validation_accuracy" not in history.records[0]
    lengths = []
    for stage in sorted(set(history["stage"])):
        values = [record["validation_likelihood"] for record in history if record["stage"] == stage]
        lengths.append(len(values))
        assert len(values) == values.index(max(values)) + 4
    assert sum(lengths) < 100
    held_out = np.sort(np.random.default_rng(0).permutation(len(X))[:180])
    p, marks = classifier.predict_proba(X[held_out]), labels.indicator()[held_out]
    likelihood = np.log((p * (marks @ classifier.C_.T)).sum(axis=1)).mean()
    assert likelihood == pytest.approx(max(values), abs=1e-5)


def test_rounds_are_judged_by_the_likelihood_also_after_a_method_that_has_none(blobs):
    X, y, _ = blobs
    labels = from_transition(y, ALWAYS_THE_NEXT, seed=3)
    method = make_method("refine", base_method="op")
    settings = {"validation_fraction": 0.3, "patience": 3, **QUICK, "epochs": 8}
    classifier = ScarceClassifier(method, early_stopping=True, **settings).fit(X, labels)
    held_out = np.sort(np.random.default_rng(0).permutation(len(X))[:180])
    p, marks = classifier.predict_proba(X[held_out]), labels.indicator()[held_out]
    likelihood = np.log((p * (marks @ classifier.C_.T)).sum(axis=1)).mean()
    last = [
        r["validation_score"] for r in classifier.history_ if r["stage"] == classifier.history_["stage"][-1]
    ]
    assert likelihood == pytest.approx(max(last), abs=1e-5)


@pytest.mark.parametrize(
    ("method", "several", "message"),
    [
        ("answers", False, "answers needs the record of what was asked"),
        ("nn", True, "nn takes one excluded class per example"),
        (make_method("refine", base_method="nn"), True, "nn takes one excluded class per example"),
    ],
)
def test_labels_that_a_method_cannot_use_are_refused_before_priors_are_estimated(
    blobs, method, several, message
):
    X, y, labels = blobs
    if several:
        labels = scar(y, c=0.7, seed=0)
    with pytest.raises(MethodError, match=message):
        ScarceClassifier(method, priors=Never(), **QUICK).fit(X, labels)
    with pytest.raises(AssertionError, match="priors were estimated"):
        ScarceClassifier("scarce", priors=Never(), **QUICK).fit(X, labels)
