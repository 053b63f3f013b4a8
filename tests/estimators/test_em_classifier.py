"""`EMComplementaryClassifier`: any classifier that accepts sample weights, fitted by EM."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from scarce import ComplementaryLabels, EMComplementaryClassifier
from scarce.errors import AccuracyWarning, FeatureError, MethodError
from scarce.estimators.em_classifier import class_posterior, likely_mechanism
from scarce.methods import Problem, make_method
from scarce.simulate import ask, scar
from scarce.testing import complementary_estimator_checks, three_blobs

LEARNERS = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=40),
    "forest": RandomForestClassifier(10, min_samples_leaf=20),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("name", "check"), complementary_estimator_checks())
def test_em_classifier_passes_estimator_check(name, check, learner):
    check(EMComplementaryClassifier(LEARNERS[learner], n_iterations=3, cv=3))


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


def ambiguous_candidate_sets(n=600, q=8, seed=0):
    """Candidate sets in which a class often has the same companion."""
    rng = np.random.default_rng(seed)
    y = rng.integers(q, size=n)
    sets = rng.random((n, q)) < 0.3
    sets[np.arange(n), (y + 1) % q] |= rng.random(n) < 0.6
    sets[np.arange(n), y] = True
    return 2 * np.eye(q)[y] + rng.normal(size=(n, q)), y, ComplementaryLabels.from_candidates(sets)


@pytest.mark.parametrize("learner", ["logistic", "forest"])
def test_em_iterations_improve_on_normalised_candidate_sets(learner):
    X, y, labels = ambiguous_candidate_sets()
    rows, other = np.arange(400), np.arange(400, 600)

    def accuracy(n_iterations):
        classifier = EMComplementaryClassifier(
            LEARNERS[learner], "candidates", n_iterations=n_iterations, cv=3
        )
        return classifier.fit(X[rows], labels[rows]).score(X[other], y[other])

    assert accuracy(8) > accuracy(0) + 0.02


def test_em_without_iterations_weights_by_labels_alone():
    X, _, labels = ambiguous_candidate_sets(n=100)
    fitted = EMComplementaryClassifier(LogisticRegression(), "candidates", n_iterations=0).fit(X, labels)
    candidates = ~labels.indicator()
    np.testing.assert_allclose(fitted.posterior_, candidates / candidates.sum(axis=1, keepdims=True))
    rows, codes = np.nonzero(candidates)
    by_hand = LogisticRegression().fit(X[rows], codes, sample_weight=fitted.posterior_[rows, codes])
    np.testing.assert_allclose(fitted.predict_proba(X), by_hand.predict_proba(X))
    assert fitted.n_iter_ == 0


def test_class_posterior_matches_values_by_hand():
    """Under SCAR a class that is often excluded but not here is more likely: p_y / (1 − c_y)."""
    labels = ComplementaryLabels.from_lists([[0], [0, 1], [0], [], [1], [0]] * 5, classes=3)
    method = make_method("scar-likelihood")
    priors = np.array([0.2, 0.3, 0.5])
    method.prepare(Problem(labels, torch.from_numpy(priors)))
    method.double()
    p = np.tile([0.5, 0.2, 0.3], (30, 1))
    c = labels.rates / (1 - priors)
    expected = np.where(labels.indicator(), 0, p / (1 - c))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(class_posterior(method, p, labels), expected, atol=1e-9)


def test_em_posterior_of_confirmed_class_is_certain(blobs):
    X, y, labels = blobs
    codes = np.searchsorted(labels.classes, y)
    known = np.where(np.arange(300) < 50, codes, -1).astype(np.int32)
    partly_confirmed = ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=known)
    for mechanism in ("candidates", "scar"):
        fitted = EMComplementaryClassifier(LogisticRegression(), mechanism, n_iterations=2).fit(
            X, partly_confirmed
        )
        assert fitted.posterior_[np.arange(50), codes[:50]].min() > 1 - 1e-6


def predict_uniform(log_likelihood):
    return np.full(log_likelihood.shape, 1 / log_likelihood.shape[1])


def test_likely_mechanism_depends_on_co_exclusion():
    y = np.arange(600) % 4
    assert likely_mechanism(scar(y, c=0.3, seed=0), predict_uniform) == "scar"
    assert (
        likely_mechanism(scar(y, c=0.8, seed=0), predict_uniform) == "scar"
    )  # though few candidates are left
    assert likely_mechanism(ask(y, questions=2, seed=0), predict_uniform) == "answers"
    pairs = ComplementaryLabels.from_lists([[0, 1], [2, 3], []] * 200, classes=8)  # though few are excluded
    assert likely_mechanism(pairs, predict_uniform) == "candidates"


def test_em_auto_mechanism_uses_priors_of_learner():
    rng = np.random.default_rng(1)
    y = rng.choice(4, 800, p=[0.55, 0.25, 0.1, 0.1])
    X = 3 * np.eye(4)[y] + rng.normal(size=(800, 4))
    at_random = scar(y, c=[0.7, 0.7, 0.8, 0.8], seed=0)
    partners = np.eye(4, dtype=bool)[y] | np.eye(4, dtype=bool)[y ^ 1]
    named = ComplementaryLabels.from_candidates(partners | (rng.random((800, 4)) < 0.1))
    found = [
        EMComplementaryClassifier(LogisticRegression(), n_iterations=1, cv=3).fit(X, labels).mechanism_
        for labels in (at_random, named)
    ]
    assert found == ["scar", "candidates"]


@pytest.mark.parametrize("mechanism", ["auto", "candidates", "scar", "answers"])
def test_em_learns_from_answers_with_every_mechanism(blobs, mechanism):
    X, y, _ = blobs
    labels = ask(y, questions=2, seed=0)
    fitted = EMComplementaryClassifier(LogisticRegression(), mechanism, n_iterations=4).fit(X, labels)
    assert fitted.mechanism_ == ("answers" if mechanism == "auto" else mechanism)
    assert fitted.score(X, y) > 0.9


def test_em_recovers_unequal_rates_and_priors():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 900, p=[0.6, 0.3, 0.1])
    X = 3 * np.eye(3)[y] + rng.normal(size=(900, 3))
    labels = scar(y, c=[0.2, 0.6, 0.4], seed=0)
    fitted = EMComplementaryClassifier(LogisticRegression()).fit(X, labels)
    assert fitted.mechanism_ == "scar"
    assert fitted.priors_ == pytest.approx([0.6, 0.3, 0.1], abs=0.05)
    assert fitted.prior_estimate_.source == "learned by EM"
    assert fitted.score(X, y) > 0.9


def test_em_stops_when_weights_converge(blobs):
    X, _, labels = blobs
    assert EMComplementaryClassifier(LogisticRegression(), n_iterations=50).fit(X, labels).n_iter_ < 40


def test_em_accepts_frames_and_sparse_matrices(blobs):
    X, y, labels = blobs
    learner = EMComplementaryClassifier(LogisticRegression(), n_iterations=2)
    plain = clone(learner).fit(X, labels)
    assert plain.classes_.dtype.kind in "UO"
    frame = pd.DataFrame(X, columns=["a", "b"][: X.shape[1]])
    np.testing.assert_array_equal(clone(learner).fit(frame, labels).predict(frame), plain.predict(X))
    thin = sparse.csr_matrix(X)
    of_thin = clone(learner).fit(thin, labels).predict_proba(thin)
    np.testing.assert_allclose(of_thin, plain.predict_proba(X), atol=1e-3)
    with pytest.warns(AccuracyWarning, match="trained-on-these"):
        assert plain.score(X, labels) == pytest.approx(plain.score(X, y), abs=0.15)


def test_em_accepts_pipelines_and_nested_parameters(blobs):
    X, y, labels = blobs
    classifier = EMComplementaryClassifier(
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())), n_iterations=2
    )
    assert classifier.fit(X, labels).score(X, y) > 0.9
    forest = EMComplementaryClassifier(RandomForestClassifier(5, min_samples_leaf=20), n_iterations=1, cv=2)
    forest.set_params(estimator__max_depth=3)
    assert forest.get_params()["estimator__max_depth"] == 3
    assert clone(forest).estimator.max_depth == 3
    search = GridSearchCV(forest, {"estimator__max_depth": [1, 4]}, cv=2)
    assert search.fit(X, labels.indicator(dtype=int)).best_params_["estimator__max_depth"] in (1, 4)
    outside = make_pipeline(StandardScaler(), clone(forest))
    assert outside.fit(X, labels).score(X, y) > 0.8


def test_em_handles_classes_missing_from_fold():
    """The third class is possible for two examples only, both in one fold; the fourth for none."""
    rng = np.random.default_rng(0)
    y = np.r_[2, 2, rng.integers(2, size=58)]
    X = 3 * np.eye(3)[y] + rng.normal(size=(60, 3))
    sets = np.eye(4, dtype=bool)[y]
    sets[2:, :2] |= rng.random((58, 2)) < 0.3
    labels = ComplementaryLabels.from_candidates(sets)
    for learner in LEARNERS.values():
        fitted = EMComplementaryClassifier(learner, n_iterations=2, cv=KFold(4)).fit(X, labels)
        proba = fitted.predict_proba(X)
        assert proba.shape == (60, 4)
        assert (proba[:, 3] == 0).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_em_handles_fold_of_single_class():
    X = np.arange(8.0)[:, None]
    labels = ComplementaryLabels.from_candidates([[1, 0]] * 7 + [[0, 1]])
    fitted = EMComplementaryClassifier(LogisticRegression(), cv=KFold(2)).fit(X, labels)
    assert fitted.predict([[0.0], [9.0]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"estimator": LinearSVC()},
            MethodError,
            "has no predict_proba; expected a classifier that does: pass one such as",
        ),
        ({"estimator": LogisticRegression}, MethodError, "has no predict_proba"),
        (
            {"estimator": KNeighborsClassifier()},
            MethodError,
            "KNeighborsClassifier does not accept sample_weight; .* MetaComp",
        ),
        (
            {"mechanism": "luck"},
            MethodError,
            "mechanism='luck' is unknown; expected 'auto', 'candidates', 'scar'",
        ),
        ({"mechanism": "answers"}, MethodError, "answers needs a table of answers"),
        ({"n_iterations": -1}, MethodError, "n_iterations=-1; expected a whole number of at least 0"),
        ({"cv": 1}, MethodError, "cv=1; expected a whole number of at least 2"),
    ],
)
def test_em_rejects_invalid_settings(blobs, params, error, message):
    X, _, labels = blobs
    with pytest.raises(error, match=message):
        EMComplementaryClassifier(**{"estimator": LogisticRegression(), **params}).fit(X, labels)


def test_em_rejects_images_and_keeps_earlier_fit(blobs):
    X, _, labels = blobs
    fitted = EMComplementaryClassifier(LogisticRegression(), n_iterations=1).fit(X, labels)
    before = fitted.predict_proba(X)
    with pytest.raises(FeatureError, match=r"expected a table \(n × d\)"):
        fitted.fit(np.zeros((300, 4, 4)), labels)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
