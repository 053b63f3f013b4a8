"""Priors and exclusion probabilities that a method has learned, as a fitted classifier reports them."""

import numpy as np
import pytest

import scarce
from scarce import ScarceClassifier
from scarce.priors import candidate_shares
from scarce.simulate import from_transition, scar
from scarce.testing import three_blobs

QUICK = {"module": "linear", "epochs": 20, "batch_size": 50, "learning_rate": 0.05}
CYCLIC = np.array([[0.0, 0.8, 0.2], [0.2, 0.0, 0.8], [0.8, 0.2, 0.0]])


@pytest.fixture(scope="module")
def blobs():
    return three_blobs(600)


def test_refine_exclusion_probabilities_round_trip_through_saving(blobs, tmp_path):
    """A hundred rows per class, plus SCAR with the weight of 50 rows: standard error below 0.04."""
    X, y, _ = blobs
    labels = from_transition(y, CYCLIC, seed=3)
    classifier = ScarceClassifier("refine", method_params={"scar_strength": 50.0}, **QUICK)
    assert not hasattr(classifier, "exclusion_matrix_")
    assert not hasattr(classifier, "exclusion_counts_")
    classifier.fit(X, labels)
    scar_too = (100 * CYCLIC + 50 * (1 - np.eye(3)) / 2) / 150
    np.testing.assert_allclose(classifier.exclusion_matrix_, scar_too, atol=0.12)
    assert classifier.exclusion_counts_.shape == (3, 3)
    assert classifier.exclusion_counts_.sum() == pytest.approx(
        300, abs=3
    )  # half of the rows, one exclusion each
    classifier.save(tmp_path / "model")
    loaded = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.exclusion_matrix_, classifier.exclusion_matrix_)
    np.testing.assert_array_equal(loaded.exclusion_counts_, classifier.exclusion_counts_)
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    assert loaded.prior_estimate_.source == "learned by refine"


@pytest.mark.parametrize("name", ["exclusion_matrix_", "exclusion_counts_"])
def test_exclusion_probabilities_are_missing_for_other_methods(blobs, name):
    X, _, labels = blobs
    classifier = ScarceClassifier(priors="uniform", **{**QUICK, "epochs": 1}).fit(X, labels)
    assert not hasattr(classifier, name)


def test_fitted_attributes_of_earlier_method_are_removed(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier("refine", **{**QUICK, "epochs": 2}).fit(X, labels)
    assert classifier.exclusion_matrix_.shape == classifier.exclusion_counts_.shape == (3, 3)
    classifier.set_params(method="cc").fit(X, labels)
    assert not hasattr(classifier, "exclusion_matrix_")
    assert not hasattr(classifier, "exclusion_counts_")


@pytest.mark.parametrize("method", ["scar-likelihood", "refine"])
def test_classifier_priors_are_learned_priors(unequal, method):
    X, y = unequal
    classifier = ScarceClassifier(method, **QUICK).fit(X, scar(y, c=[0.3, 0.5, 0.4], seed=0))
    assert classifier.prior_estimate_.source == f"learned by {method}"
    assert classifier.prior_estimate_.classes.tolist() == ["ant", "bee", "cat"]
    assert classifier.priors_ == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
    assert classifier.priors_.sum() == pytest.approx(1)
    assert classifier.prior_estimate_.raw == pytest.approx(classifier.method_.learned_priors().numpy())


@pytest.mark.parametrize("method", ["scar-likelihood", "refine"])
def test_classifier_keeps_given_priors(unequal, method):
    X, y = unequal
    given = [0.5, 0.3, 0.2]
    labels = scar(y, c=[0.3, 0.5, 0.4], seed=0)
    classifier = ScarceClassifier(method, priors=given, **QUICK).fit(X, labels)
    assert classifier.prior_estimate_.source == "given"
    assert classifier.priors_.tolist() == given


def test_refine_priors_stay_within_limits_of_labels():
    """By hand: shrunk towards the candidate shares and at most the share of examples that do not exclude the class."""
    X, y, _ = three_blobs(60)
    labels = scar(y, c=[0.2, 0.5, 0.7], seed=0)
    classifier = ScarceClassifier("refine", module="linear", epochs=60, learning_rate=0.02).fit(X, labels)
    raw, errors = classifier.prior_estimate_.raw, classifier.exclusion_matrix_.diagonal()
    strength = 5 * ((3 - labels.per_example).mean() - 1) ** 2
    drawn = (60 * raw + strength * candidate_shares(labels)) / (60 + strength)
    limits = np.minimum(1, (1 - labels.rates) / (1 - errors))
    assert (classifier.priors_ <= limits + 1e-6).all()
    if (drawn <= limits).all():
        assert classifier.priors_ == pytest.approx(drawn, abs=1e-6)
