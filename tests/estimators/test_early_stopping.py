"""Early stopping on held-out rows: which epoch is restored, and by which criterion."""

import numpy as np
import pytest

from scarce import ScarceClassifier
from scarce.methods import make_method
from scarce.metrics import complementary_accuracy, fit_label_model
from scarce.simulate import from_transition, scar
from scarce.testing import three_blobs

QUICK = {"module": "linear", "epochs": 20, "batch_size": 50, "learning_rate": 0.05}
CYCLIC = np.array([[0.0, 0.8, 0.2], [0.2, 0.0, 0.8], [0.8, 0.2, 0.0]])


@pytest.fixture(scope="module")
def blobs():
    return three_blobs(600)


def test_early_stopping_restores_best_epoch():
    X, _, labels = three_blobs()
    classifier = ScarceClassifier(
        module="linear",
        priors="uniform",
        epochs=50,
        learning_rate=0.1,
        early_stopping=True,
        validation_fraction=0.3,
        patience=4,
    ).fit(X, labels)
    scores = classifier.history_["validation_accuracy"]
    assert len(scores) == scores.index(max(scores)) + 1 + 4 or len(scores) == 50
    order = np.random.default_rng(0).permutation(len(X))
    held_out = np.sort(order[:90])
    found = complementary_accuracy(classifier.predict(X[held_out]), labels[held_out], classifier.priors_)
    assert found.value == pytest.approx(max(scores))


def test_early_stopping_scores_all_epochs_with_priors_of_labels(unequal):
    """Learned priors change from epoch to epoch; those of the labels are the same for all epochs."""
    X, y = unequal
    X = X + np.random.default_rng(1).normal(0, 2, X.shape)  # so that the accuracy is below one
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


def test_early_stopping_of_refine_scores_every_stage_by_likelihood(blobs):
    X, y, _ = blobs
    X = X + np.random.default_rng(1).normal(0, 2, X.shape)
    labels = from_transition(y, CYCLIC, seed=3)
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
    likelihood = np.log((p * (marks @ classifier.exclusion_matrix_.T)).sum(axis=1)).mean()
    assert likelihood == pytest.approx(max(values), abs=1e-5)


def test_early_stopping_of_refine_uses_likelihood_after_base_without_one(blobs):
    X, y, _ = blobs
    labels = from_transition(y, CYCLIC, seed=3)
    method = make_method("refine", base_method="op")
    settings = {"validation_fraction": 0.3, "patience": 3, **QUICK, "epochs": 8}
    classifier = ScarceClassifier(method, early_stopping=True, **settings).fit(X, labels)
    held_out = np.sort(np.random.default_rng(0).permutation(len(X))[:180])
    p, marks = classifier.predict_proba(X[held_out]), labels.indicator()[held_out]
    likelihood = np.log((p * (marks @ classifier.exclusion_matrix_.T)).sum(axis=1)).mean()
    last = [
        r["validation_score"] for r in classifier.history_ if r["stage"] == classifier.history_["stage"][-1]
    ]
    assert likelihood == pytest.approx(max(last), abs=1e-5)
