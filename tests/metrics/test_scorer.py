"""Scorers for complementary labels in scikit-learn's model selection."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from scarce.errors import LabelError, MethodError
from scarce.estimators import ScarceClassifier
from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    approximated_accuracy,
    complementary_accuracy,
    complementary_risk,
    covering_rate,
    fit_label_model,
    make_complementary_scorer,
    scel,
    transition_risk,
)
from scarce.metrics.criteria import CRITERIA
from scarce.simulate import uniform, uniform_transition

X, TRUTH = load_iris(return_X_y=True)
LABELS = uniform(TRUTH, seed=0)
T = uniform_transition(3)
FOLDS = KFold(3, shuffle=True, random_state=0)


def classifier(epochs=15, **settings):
    return ScarceClassifier(
        **{"module": "linear", "priors": "uniform", "epochs": epochs, "learning_rate": 0.1, **settings}
    )


@pytest.fixture(scope="module")
def fitted():
    return classifier().fit(X, LABELS)


def test_scorer_equals_metric_with_higher_is_better(fitted):
    p, predicted, logits = fitted.predict_proba(X), fitted.predict(X), fitted.decision_function(X)
    priors = fit_label_model(LABELS).priors
    expected = {
        "accuracy": complementary_accuracy(predicted, LABELS, priors).value,
        "risk": -complementary_risk(logits, LABELS, priors),
        "covering-rate": covering_rate(predicted, LABELS),
        "approximated-accuracy": approximated_accuracy(p, LABELS),
        "scel": -scel(p, LABELS, T),
        "transition-risk": -transition_risk(p, LABELS, T, loss="01"),
    }
    assert set(expected) == set(CRITERIA)
    for criterion, value in expected.items():
        scorer = make_complementary_scorer(criterion, transition=T)
        assert scorer(fitted, X, LABELS) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", ["labels", "indicator"])
def test_scorer_in_cross_validation_uses_labels_of_fold(kind):
    y = LABELS if kind == "labels" else LABELS.indicator(dtype=int)
    scores = cross_val_score(
        classifier(), X, y, scoring=make_complementary_scorer(), cv=FOLDS, error_score="raise"
    )
    expected = []
    for train, test in FOLDS.split(X):
        predicted = classifier().fit(X[train], LABELS[train]).predict(X[test])
        expected.append(complementary_accuracy(predicted, LABELS[test]).value)
    assert scores.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["labels", "indicator"])
def test_scorer_in_grid_search_of_pipeline_finds_best_setting(kind):
    y = LABELS if kind == "labels" else LABELS.indicator(dtype=int)
    pipeline = make_pipeline(MinMaxScaler(), classifier(epochs=20))
    search = GridSearchCV(
        pipeline,
        {"scarceclassifier__learning_rate": [1e-9, 0.1]},
        scoring=make_complementary_scorer(),
        cv=FOLDS,
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_ == {"scarceclassifier__learning_rate": 0.1}
    assert search.best_score_ > search.cv_results_["mean_test_score"][0]
    assert (search.predict(X) == TRUTH).mean() > 0.6


def test_scorer_supports_several_criteria_in_grid_search():
    scoring = {name: make_complementary_scorer(name, transition=T) for name in CRITERIA}
    search = GridSearchCV(
        classifier(epochs=5),
        {"weight_decay": [0.0, 1e-3]},
        scoring=scoring,
        refit="accuracy",
        cv=2,
        error_score="raise",
    ).fit(X, LABELS)
    for name in CRITERIA:
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()


def test_scorer_prefers_given_priors(fitted):
    priors = [0.6, 0.2, 0.2]
    expected = complementary_accuracy(fitted.predict(X), LABELS, priors).value
    assert make_complementary_scorer(priors=priors)(fitted, X, LABELS) == expected
    assert expected != make_complementary_scorer()(fitted, X, LABELS)
    model = fit_label_model(LABELS, priors)
    for criterion in ("accuracy", "risk"):
        of_model = make_complementary_scorer(criterion, priors=model)(fitted, X, LABELS)
        assert of_model == make_complementary_scorer(criterion, priors=priors)(fitted, X, LABELS)


def test_scorer_accepts_class_names_and_indicator():
    names = np.array(["setosa", "versicolor", "virginica"])
    labels = ComplementaryLabels.from_indicator(LABELS.indicator(), classes=names)
    named = classifier().fit(X, labels)
    scorer = make_complementary_scorer()
    assert (
        scorer(named, X, labels)
        == scorer(named, X, LABELS.indicator())
        == scorer(classifier().fit(X, LABELS), X, LABELS)
    )


class ScikitLearnClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of scikit-learn: it has no priors, and one score for two classes."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression(max_iter=1000).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def decision_function(self, X):
        return self.inner_.decision_function(X)


def test_scorer_estimates_priors_from_labels():
    model = ScikitLearnClassifier().fit(X, TRUTH)
    assert make_complementary_scorer()(model, X, LABELS) > 0.9
    risk = complementary_risk(model.decision_function(X), LABELS, fit_label_model(LABELS).priors)
    assert make_complementary_scorer("risk")(model, X, LABELS) == pytest.approx(-risk)
    assert make_complementary_scorer(priors=[1 / 3] * 3)(model, X, LABELS) > 0.9
    assert make_complementary_scorer("covering-rate")(model, X, LABELS) > 0.9


@pytest.mark.parametrize("criterion", ["accuracy", "risk"])
def test_scorer_ignores_priors_of_classifier(criterion):
    """Predicting the class with the largest learned prior must not improve the score."""
    model, scorer = ScikitLearnClassifier().fit(X, TRUTH), make_complementary_scorer(criterion)
    before = scorer(model, X, LABELS)
    model.priors_ = np.array([0.98, 0.01, 0.01])
    assert scorer(model, X, LABELS) == before


def test_scorer_expands_single_score_of_two_classes():
    rows = TRUTH < 2
    model = ScikitLearnClassifier().fit(X[rows], TRUTH[rows])
    labels = ComplementaryLabels.from_single(1 - TRUTH[rows], classes=2)
    margin = model.decision_function(X[rows])
    expected = -complementary_risk(np.stack([-margin / 2, margin / 2], axis=1), labels, [0.5, 0.5])
    assert make_complementary_scorer("risk", priors=[0.5, 0.5])(model, X[rows], labels) == pytest.approx(
        expected
    )
    assert expected > -0.3  # guessing has a risk of 1


def test_scorer_rejects_labels_with_other_class_order(fitted):
    turned = ComplementaryLabels.from_single([2, 1, 0], classes=[2, 1, 0])
    for criterion in ("accuracy", "risk"):
        with pytest.raises(LabelError, match=r"have the classes 2, 1, 0, expected 0, 1, 2 in this order"):
            make_complementary_scorer(criterion)(fitted, X[:3], turned)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "luck"}, "criterion='luck' is unknown; expected 'accuracy', 'risk', 'covering-rate'"),
        (
            {"criterion": "scel"},
            "criterion='scel' needs a transition matrix; pass transition=..., or choose 'accuracy'",
        ),
        ({"criterion": "transition-risk"}, "criterion='transition-risk' needs a transition matrix"),
    ],
)
def test_make_complementary_scorer_rejects_invalid_settings(settings, message):
    with pytest.raises(MethodError, match=message):
        make_complementary_scorer(**settings)


def test_scorer_rejects_one_dimensional_labels(fitted):
    with pytest.raises(LabelError, match="y has one dimension"):
        make_complementary_scorer()(fitted, X, TRUTH)
