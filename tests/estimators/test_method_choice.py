"""`method="auto"` for a single network: the choice of the method and of early stopping."""

import numpy as np
import pytest

from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import MethodError
from scarce.estimators._method_choice import choose_method
from scarce.simulate import ask
from scarce.testing import three_blobs

QUICK = {"module": "linear", "epochs": 20, "batch_size": 50, "learning_rate": 0.05}


@pytest.fixture(scope="module")
def blobs():
    return three_blobs(600)


def exclusions(n):
    """n exclusions of each of two classes."""
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
def test_choose_method_depends_on_kind_and_number_of_labels(labels, name, stops):
    choice = choose_method(labels)
    assert (choice.method, choice.early_stopping) == (name, stops)
    assert choice.reason.startswith(f"method: {name}, because ")
    assert ("stops early" in choice.reason) == stops
    assert "\n" not in choice.reason


@pytest.fixture(scope="module")
def many_blobs():
    """Two thousand points with one exclusion each, 667 per class."""
    X, y, labels = three_blobs(2000)
    return X, y, labels


@pytest.mark.parametrize("kind", ["answers", "scarce", "refine"])
def test_auto_equals_chosen_method(blobs, many_blobs, kind):
    X, y, labels = many_blobs if kind == "refine" else blobs
    labels = ask(y, questions=1, seed=0) if kind == "answers" else labels
    settings = {"priors": "uniform", **QUICK}
    chosen = ScarceClassifier("auto", **settings).fit(X, labels)
    named = ScarceClassifier(kind, early_stopping=kind == "refine", **settings).fit(X, labels)
    assert chosen.method_.facts.name == kind
    assert str(chosen.choice_) == chosen.choice_.reason == choose_method(labels).reason
    assert not hasattr(named, "choice_")
    np.testing.assert_array_equal(chosen.predict_proba(X), named.predict_proba(X))
    assert chosen.score(X, y) > 0.95
    assert chosen.get_params()["method"] == "auto"


def test_auto_respects_early_stopping_of_user(many_blobs):
    X, _, labels = many_blobs
    settings = {**QUICK, "epochs": 2}
    lengths = [
        "validation_likelihood"
        in ScarceClassifier("auto", early_stopping=stops, **settings).fit(X, labels).history_.records[0]
        for stops in (None, True, False)
    ]
    assert lengths == [True, True, False]


def test_auto_passes_method_params_to_chosen_method(many_blobs):
    X, y, labels = many_blobs
    classifier = ScarceClassifier("auto", method_params={"rounds": 1}, **QUICK).fit(X, labels)
    assert set(classifier.history_["stage"]) == {0, 1}
    with pytest.raises(MethodError, match="answers has no parameter 'rounds'"):
        classifier.fit(X, ask(y, questions=1, seed=0))


def test_choice_is_removed_by_fit_with_named_method(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier("auto", priors="uniform", **{**QUICK, "epochs": 1}).fit(X, labels)
    classifier.set_params(method="scarce").fit(X, labels)
    assert not hasattr(classifier, "choice_")


def test_ordinary_mode_agrees_for_default_and_named_method(blobs):
    X, y, _ = blobs
    by_default, named = (
        ScarceClassifier(labels="ordinary", **{**QUICK, "epochs": 2, **given}).fit(X, y)
        for given in ({}, {"method": "scarce"})
    )
    np.testing.assert_array_equal(by_default.predict_proba(X), named.predict_proba(X))
    assert not hasattr(by_default, "choice_")
