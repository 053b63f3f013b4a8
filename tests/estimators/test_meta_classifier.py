"""`MetaComplementaryClassifier`: any learner, one positive-unlabeled problem per class."""

import numpy as np
import pandas as pd
import pytest
from pulearn import BaggingPuClassifier, ElkanotoPuClassifier, NNPUClassifier
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from scarce import ComplementaryLabels, ElkanNotoClassifier, MetaComplementaryClassifier
from scarce.errors import FeatureError, LabelError, MethodError, PriorError
from scarce.metrics import complementary_accuracy, make_complementary_scorer
from scarce.priors import BestBin
from scarce.simulate import scar, uniform
from scarce.testing import complementary_estimator_checks, three_blobs

BOOSTING = HistGradientBoostingClassifier(max_iter=10)
FOREST = RandomForestClassifier(5, min_samples_leaf=10)
LEARNERS = {
    "logistic": (LogisticRegression(), {}),
    "boosting": (BOOSTING, {}),
    "forest": (FOREST, {}),
    "pulearn-elkan-noto-logistic": (ElkanotoPuClassifier(LogisticRegression(), hold_out_ratio=0.2), {}),
    "pulearn-elkan-noto-boosting": (ElkanotoPuClassifier(BOOSTING, hold_out_ratio=0.2), {}),
    "pulearn-elkan-noto-forest": (ElkanotoPuClassifier(FOREST, hold_out_ratio=0.2), {}),
    "pulearn-bagging-logistic": (BaggingPuClassifier(LogisticRegression(), n_estimators=5), {}),
    "pulearn-bagging-boosting": (BaggingPuClassifier(BOOSTING, n_estimators=2), {}),
    "pulearn-bagging-forest": (BaggingPuClassifier(FOREST, n_estimators=2), {}),
    "pulearn-nnpu": (NNPUClassifier(prior=0.5, max_iter=200, learning_rate=0.2), {"unlabeled": "all"}),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("name", "check"), complementary_estimator_checks())
def test_meta_classifier_passes_estimator_check(name, check, learner):
    estimator, params = LEARNERS[learner]
    check(MetaComplementaryClassifier(estimator, priors="uniform", **params))


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


def logistic(**params):
    return MetaComplementaryClassifier(**{"estimator": LogisticRegression(), "priors": "uniform", **params})


class Recorder(ClassifierMixin, BaseEstimator):
    """A PU learner that records its training data and returns a column of X."""

    is_pu_classifier = True

    def __init__(self, prior=None, column=0, random_state=None):
        self.prior = prior
        self.column = column
        self.random_state = random_state

    def fit(self, X, s):
        self.X_, self.s_, self.classes_ = X, s, np.array([1, 0])  # the positive class comes first
        return self

    def predict_proba(self, X):
        return np.stack([X[:, self.column], np.full(len(X), 9.0)], axis=1)


# What each learner is fitted on.

EXCLUDED = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
FEATURES = np.arange(5.0)[:, None] / 10


def test_pu_learners_receive_excluding_rows_as_positives_and_rest_as_unlabeled():
    fitted = MetaComplementaryClassifier(Recorder(), priors=[0.4, 0.3, 0.3]).fit(FEATURES, EXCLUDED)
    for k, learner in enumerate(fitted.estimators_):
        assert learner.s_.tolist() == EXCLUDED[:, k].tolist()
        assert learner.X_.tolist() == FEATURES.tolist()
    # of the 5 rows 3 are not class 0; 1 of them is known, so 2 of the 4 unlabeled rows are not class 0
    assert fitted.estimators_[0].prior == pytest.approx(2 / 4)
    # of the 5 rows 3.5 are not class 1; 2 of them are known, so 1.5 of the 3 unlabeled rows are not class 1
    assert [learner.prior for learner in fitted.estimators_[1:]] == pytest.approx([1.5 / 3] * 2)


def test_pu_learners_receive_all_rows_as_unlabeled_with_all():
    fitted = MetaComplementaryClassifier(Recorder(), unlabeled="all", priors=[0.4, 0.3, 0.3])
    fitted.fit(sparse.csr_matrix(FEATURES), EXCLUDED)
    for k, learner in enumerate(fitted.estimators_):
        positive = learner.X_[learner.s_ == 1].toarray()
        assert positive.tolist() == FEATURES[EXCLUDED[:, k] == 1].tolist()
        assert learner.X_[learner.s_ == 0].toarray().tolist() == FEATURES.tolist()
    assert [learner.prior for learner in fitted.estimators_] == pytest.approx([0.6, 0.7, 0.7])


def test_mixture_proportion_is_passed_to_named_parameter():
    piped = make_pipeline(StandardScaler(), Recorder())
    fitted = MetaComplementaryClassifier(piped, priors=[0.4, 0.3, 0.3]).fit(FEATURES, EXCLUDED)
    assert fitted.estimators_[0][-1].prior == pytest.approx(0.5)
    other = MetaComplementaryClassifier(Recorder(prior=0.9), prior_parameter="column", priors=[0.4, 0.3, 0.3])
    learner = other.fit(FEATURES, EXCLUDED).estimators_[0]
    assert (learner.prior, learner.column) == (0.9, pytest.approx(0.5))
    left_alone = MetaComplementaryClassifier(Recorder(prior=0.9), prior_parameter=None, priors="uniform")
    assert left_alone.fit(FEATURES, EXCLUDED).estimators_[0].prior == 0.9
    with pytest.raises(MethodError, match="Recorder has no parameter 'pi'; set prior_parameter to one of"):
        MetaComplementaryClassifier(Recorder(), prior_parameter="pi", priors="uniform").fit(
            FEATURES, EXCLUDED
        )


def test_mixture_proportion_of_empty_rest_stays_above_zero():
    """Two classes and one label each: every unlabeled row of class k is of class k."""
    labels = uniform([0, 1] * 10, seed=0)
    fitted = MetaComplementaryClassifier(Recorder(), priors="uniform").fit(np.zeros((20, 1)), labels)
    assert [learner.prior for learner in fitted.estimators_] == [1e-3, 1e-3]


def test_learner_seeds_differ_by_class_and_follow_random_state():
    def seeds(state, estimator):
        fitted = MetaComplementaryClassifier(estimator, random_state=state, priors="uniform", wrap=False)
        return [learner.get_params() for learner in fitted.fit(FEATURES, EXCLUDED).estimators_]

    drawn = [params["random_state"] for params in seeds(0, Recorder())]
    assert len(set(drawn)) == 3
    assert drawn == [params["random_state"] for params in seeds(np.random.RandomState(0), Recorder())]
    assert drawn != [params["random_state"] for params in seeds(1, Recorder())]
    nested = seeds(0, make_pipeline(StandardScaler(), Recorder()))
    assert drawn == [params["recorder__random_state"] for params in nested]


def test_learners_are_wrapped_unless_pu_classifiers(blobs):
    X, _, labels = blobs

    def kind(estimator, **params):
        fitted = MetaComplementaryClassifier(estimator, priors="uniform", **params).fit(X, labels)
        return type(fitted.estimators_[0])

    class MyElkanNoto(ElkanotoPuClassifier):
        pass

    assert kind(LogisticRegression()) is ElkanNotoClassifier
    assert kind(make_pipeline(StandardScaler(), LogisticRegression())) is ElkanNotoClassifier
    assert kind(ElkanNotoClassifier(LogisticRegression())) is ElkanNotoClassifier
    assert kind(LogisticRegression(), wrap=False) is LogisticRegression
    assert kind(BaggingPuClassifier(LogisticRegression(), 2), wrap=True) is ElkanNotoClassifier
    assert kind(MyElkanNoto(LogisticRegression(), 0.2)) is MyElkanNoto
    assert kind(make_pipeline(StandardScaler(), MyElkanNoto(LogisticRegression(), 0.2))) is Pipeline


# How predictions of the learners are combined.


def classifier_with_fixed_outputs(answers, classes=3):
    """Return a classifier whose learner of class k returns column k of its inputs."""
    answers = np.asarray(answers, dtype=float)
    labels = ComplementaryLabels.from_single(np.arange(len(answers)) % classes, classes)
    fitted = MetaComplementaryClassifier(Recorder(), priors="uniform").fit(answers, labels)
    for k, learner in enumerate(fitted.estimators_):
        learner.column = k
    return fitted


def test_predict_proba_matches_values_by_hand():
    answers = [[0.2, 0.9, 0.7], [1.5, 0.5, 1.0], [1.25, 2.0, 5.0], [-0.5, 0.0, 1.0], [1.0, 1.0, 1.0]]
    fitted = classifier_with_fixed_outputs(answers)
    expected = [
        [8 / 12, 1 / 12, 3 / 12],
        [0, 1, 0],
        [0.8 / 1.5, 0.5 / 1.5, 0.2 / 1.5],  # every class is ruled out: 1 / 1.25, 1 / 2, 1 / 5
        [0.5, 0.5, 0],
        [1 / 3, 1 / 3, 1 / 3],
    ]
    np.testing.assert_allclose(fitted.predict_proba(answers), expected)
    assert fitted.predict(answers).tolist() == [0, 1, 0, 0, 0]
    scores = fitted.decision_function(answers)
    assert scores[0] == pytest.approx(np.log([8 / 4, 1 / 11, 3 / 9]))
    assert np.isfinite(scores).all()


def test_predict_proba_uses_decision_function_of_learners(blobs):
    X, y, labels = blobs
    classifier = MetaComplementaryClassifier(LinearSVC(), wrap=False, priors="uniform").fit(X, labels)
    by_hand = np.stack([1 / (1 + np.exp(e.decision_function(X))) for e in classifier.estimators_], axis=1)
    np.testing.assert_allclose(classifier.predict_proba(X), by_hand / by_hand.sum(axis=1, keepdims=True))
    assert classifier.score(X, y) > 0.9


# Learning.


@pytest.mark.slow
def test_meta_classifier_learns_digits_and_estimates_its_accuracy():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
    forest = RandomForestClassifier(15, min_samples_leaf=5)
    classifier = MetaComplementaryClassifier(forest, priors="uniform").fit(
        X_train, scar(y_train, c=0.5, seed=0)
    )
    truth = classifier.score(X_test, y_test)
    assert truth > 0.82
    labels = scar(y_test, c=0.5, seed=1)
    estimate = complementary_accuracy(classifier.predict(X_test), labels, classifier.priors_)
    assert abs(estimate.value - truth) < 3 * estimate.standard_error
    assert classifier.score(X_test, labels) == estimate.value


@pytest.mark.parametrize(
    "estimator", [None, FOREST, make_pipeline(StandardScaler(), LogisticRegression())], ids=["default", "forest", "linear"]
)  # fmt: skip
def test_meta_classifier_learns_wine(estimator):
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
    classifier = MetaComplementaryClassifier(estimator, priors="uniform")
    assert classifier.fit(X_train, scar(y_train, c=0.5, seed=0)).score(X_test, y_test) > 0.8


def test_meta_classifier_does_not_favour_seldom_excluded_class():
    """Without division by the label frequency, a class that is seldom excluded would be predicted everywhere."""
    X, y, _ = three_blobs(900)
    labels = scar(y, c=[0.05, 0.5, 0.9], seed=0)
    divided = logistic().fit(X, labels)
    undivided = logistic(wrap=False).fit(X, labels)
    assert divided.score(X, y) > 0.97
    assert undivided.score(X, y) < 0.9
    assert [e.label_frequency_ for e in divided.estimators_] == pytest.approx([0.05, 0.5, 0.9], abs=0.07)


def test_meta_classifier_learns_two_classes(blobs):
    X, y, _ = blobs
    chosen = y != "cat"
    classifier = logistic().fit(X[chosen], scar(y[chosen], c=0.5, seed=0))
    assert classifier.score(X[chosen], y[chosen]) > 0.95
    scores = classifier.decision_function(X[chosen])
    assert scores.shape == (chosen.sum(),)
    assert np.mean(classifier.classes_[(scores > 0).astype(int)] == y[chosen]) > 0.95


def test_meta_classifier_estimates_priors(blobs):
    X, _, labels = blobs
    estimate = logistic(priors=BestBin(scorer="linear")).fit(X, labels).prior_estimate_
    assert estimate.source == "best-bin"
    assert estimate.values == pytest.approx([1 / 3] * 3, abs=0.1)


@pytest.mark.slow
def test_predict_proba_ignores_number_of_jobs(blobs):
    X, _, labels = blobs
    one, two = (
        MetaComplementaryClassifier(FOREST, priors="uniform", n_jobs=n_jobs).fit(X, labels)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_verbose_prints_progress_to_stderr(blobs, capsys):
    X, _, labels = blobs
    logistic(verbose=True).fit(X, labels)
    assert "classes" in capsys.readouterr().err
    logistic().fit(X, labels)
    assert capsys.readouterr().err == ""


# scikit-learn tools.


def test_meta_classifier_accepts_frames_sparse_matrices_and_pipelines(blobs):
    X, y, labels = blobs
    dense = logistic().fit(X, labels)
    thin = logistic().fit(sparse.csr_matrix(X), labels)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-4)
    frame = pd.DataFrame(X, columns=["width", "height"])
    named = logistic().fit(frame, labels)
    assert named.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[["height", "width"]])
    assert make_pipeline(StandardScaler(), logistic()).fit(X, labels).score(X, y) > 0.9


@pytest.mark.parametrize("criterion", ["accuracy", "risk"])
def test_grid_search_tunes_parameters_of_inner_estimator(blobs, criterion):
    X, y, labels = blobs
    tree = MetaComplementaryClassifier(DecisionTreeClassifier(), priors="uniform")
    grid = {"estimator__min_samples_leaf": [150, 10]}  # with 150 of 200 rows there is nothing to split
    search = GridSearchCV(tree, grid, cv=3, scoring=make_complementary_scorer(criterion)).fit(X, labels)
    assert search.best_params_ == {"estimator__min_samples_leaf": 10}
    assert np.mean(search.predict(X) == y) > 0.9


def test_fit_leaves_parameters_and_inner_estimator_unchanged(blobs):
    X, _, labels = blobs
    forest = RandomForestClassifier(3, random_state=5)
    classifier = MetaComplementaryClassifier(forest, priors=[0.3, 0.3, 0.4], n_jobs=1, verbose=False)
    assert str(clone(classifier).get_params()) == str(classifier.get_params())
    classifier.fit(X, labels)
    assert forest.random_state == 5
    assert not hasattr(forest, "estimators_")


# Errors.


def test_meta_classifier_rejects_class_never_or_always_excluded():
    never = ComplementaryLabels.from_single(["a", "b"] * 5, classes=["a", "b", "c"])
    with pytest.raises(
        LabelError, match="no example excludes class c, so its PU classifier has no positives"
    ):
        logistic().fit(np.zeros((10, 2)), never)
    always = ComplementaryLabels.from_lists([["a", "c"], ["b", "c"]] * 5, classes=["a", "b", "c"])
    with pytest.raises(
        LabelError, match="every example excludes class c, so no example can belong to it; remove it"
    ):
        logistic().fit(np.zeros((10, 2)), always)


class FailingLearner(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("out of ideas\nand of memory")


class FailingWithoutMessage(LogisticRegression):
    def fit(self, X, y):
        raise KeyError


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": FailingLearner()}, "^the learner of class ant failed: out of ideas$"),
        ({"estimator": FailingLearner(), "wrap": False}, "^the learner of class ant failed: out of ideas$"),
        ({"estimator": FailingWithoutMessage()}, "^the learner of class ant failed: KeyError$"),
        ({"estimator": LinearSVC()}, "LinearSVC has no predict_proba; .* CalibratedClassifierCV"),
        ({"estimator": Ridge(), "wrap": False}, "Ridge has no predict_proba"),
        (
            {"estimator": LogisticRegression},
            "expected a scikit-learn classifier such as RandomForestClassifier",
        ),
        ({"estimator": "forest"}, "estimator='forest'; expected a scikit-learn classifier"),
        ({"estimator": None, "wrap": False}, "estimator=None; expected a scikit-learn classifier"),
        ({"wrap": "yes"}, "wrap='yes' is unknown; expected 'auto', True or False"),
        (
            {"unlabeled": "none", "estimator": Recorder()},
            "unlabeled='none' is unknown; expected 'all' or 'rest'",
        ),
        ({"unlabeled": "all"}, "unlabeled='all' does not work with Elkan-Noto"),
    ],
)
def test_meta_classifier_rejects_invalid_settings(blobs, params, message):
    X, _, labels = blobs
    with pytest.raises(MethodError, match=message):
        logistic(**params).fit(X, labels)


def test_meta_classifier_rejects_invalid_features(blobs):
    X, _, labels = blobs
    with pytest.raises(FeatureError, match=r"X has shape \(300, 2, 1\); expected a table .* X.reshape"):
        logistic().fit(X[:, :, None], labels)
    with pytest.raises(MethodError, match="the learner of class ant failed: Sparse data was passed"):
        MetaComplementaryClassifier(BOOSTING, priors="uniform").fit(sparse.csr_matrix(X), labels)
    with pytest.raises(ValueError, match="2 features"):
        logistic().fit(X, labels).predict(X[:, :1])
    with pytest.raises(NotFittedError):
        logistic().predict(X)


def test_failed_fit_keeps_earlier_fit(blobs):
    X, _, labels = blobs
    classifier = logistic().fit(X, labels)
    before = classifier.predict_proba(X)
    with pytest.raises(PriorError):
        classifier.set_params(priors=[0.9, 0.05, 0.05]).fit(X[:, :1], labels)
    np.testing.assert_array_equal(classifier.predict_proba(X), before)
