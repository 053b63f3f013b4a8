"""Model selection by complementary labels ignores the priors that a model has learned."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

from scarce import ScarceClassifier
from scarce.metrics import LabelModel, complementary_accuracy, make_complementary_scorer
from scarce.simulate import scar, uniform

X, Y = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
TRAIN, TEST = ORDER[:1000], ORDER[1000:]


@pytest.fixture(scope="module")
def stack():
    return ScarceClassifier(module="linear").fit(X[TRAIN], uniform(Y[TRAIN], seed=0))


class ConfidentInOneClass(ClassifierMixin, BaseEstimator):
    """Has learned that one class is common, and nearly always predicts it."""

    def __init__(self, believed=3):
        self.believed = believed

    def fit(self, X, y):
        self.classes_ = y.classes
        self.priors_ = np.full(10, 0.12 / 9)
        self.priors_[self.believed] = 0.88
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) % 10 == 0, 4, self.believed)


def test_grid_search_rejects_model_that_scores_well_only_by_its_own_priors():
    """Its score is 0.8 with its own priors, and about 0.1 with those of the labels."""
    labels = uniform(Y[TRAIN], seed=0)
    confident = ConfidentInOneClass().fit(X, labels)
    assert (
        complementary_accuracy(confident.predict(X[TEST]), uniform(Y[TEST], seed=1), confident.priors_).value
        > 0.7
    )
    scorer = make_complementary_scorer()
    assert scorer(confident, X[TEST], uniform(Y[TEST], seed=1)) < 0.4

    class ChosenModel(BaseEstimator):
        def __init__(self, which="good"):
            self.which = which

        def fit(self, X, y):
            good = ScarceClassifier("cc", "linear", epochs=20, learning_rate=0.03)
            self.inner_ = (good if self.which == "good" else ConfidentInOneClass()).fit(X, y)
            self.classes_ = self.inner_.classes_
            return self

        def predict(self, X):
            return self.inner_.predict(X)

    search = GridSearchCV(
        ChosenModel(), {"which": ["believer", "good"]}, scoring=scorer, cv=KFold(3), error_score="raise"
    )
    assert search.fit(X[TRAIN], labels).best_params_ == {"which": "good"}


def test_scorer_accepts_fixed_label_model(stack):
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
