"""scikit-learn's estimator checks in both label modes, and its tools for model selection."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from scarce import ScarceClassifier
from scarce.metrics import make_complementary_scorer
from scarce.testing import three_blobs

# The default mode rejects a column of true classes, because reading it as complementary labels would train an
# anti-classifier. Every check below passes one.
_PASSES_TRUE_CLASSES = "y is one true class per example, which the default mode rejects by design"
EXPECTED_FAILURES = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_decision_proba_consistency",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_supervised_y_2d",
    ],
    _PASSES_TRUE_CLASSES,
) | {
    "check_classifiers_regression_target": "expects a message about continuous targets; ours names the two meanings of y",
    "check_estimator_sparse_array": _PASSES_TRUE_CLASSES + ", and expects an error about sparse X only",
    "check_estimator_sparse_matrix": _PASSES_TRUE_CLASSES + ", and expects an error about sparse X only",
    "check_estimator_sparse_tag": _PASSES_TRUE_CLASSES + ", and takes that for an error about sparse X",
    "check_fit2d_1feature": _PASSES_TRUE_CLASSES + ", and expects an error about the feature only",
    "check_fit2d_1sample": _PASSES_TRUE_CLASSES + ", and expects an error about the sample only",
}


@parametrize_with_checks([ScarceClassifier(labels="ordinary", epochs=40)])
def test_ordinary_mode_passes_every_scikit_learn_check(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [ScarceClassifier()], expected_failed_checks=lambda _: EXPECTED_FAILURES, xfail_strict=True
)
def test_default_mode_passes_scikit_learn_checks_except_listed(estimator, check):
    check(estimator)


def test_expected_failures_name_existing_checks():
    names = {
        getattr(check, "func", check).__name__
        for _, check in estimator_checks_generator(ScarceClassifier(), legacy=True)
    }
    assert set(EXPECTED_FAILURES) <= names


def test_clone_keeps_params():
    classifier = ScarceClassifier(module="linear", priors=[0.2, 0.8], method_params={"form": "ht"}, epochs=3)
    assert clone(classifier).get_params() == classifier.get_params()


@pytest.mark.parametrize("form", ["labels", "indicator", "csr"])
def test_grid_search_works_on_complementary_labels(form):
    X, y, labels = three_blobs()
    target = {"labels": labels, "indicator": labels.indicator(dtype=int), "csr": labels.to_csr()}[form]
    search = GridSearchCV(
        ScarceClassifier(module="linear", priors="uniform", epochs=30), {"learning_rate": [1e-6, 0.03]}, cv=3,
        scoring=make_complementary_scorer(),
    )  # fmt: skip
    search.fit(X, target)
    assert search.best_params_ == {"learning_rate": 0.03}
    codes = search.predict(X)
    assert np.mean(codes == (y if form == "labels" else np.unique(y, return_inverse=True)[1])) > 0.9


def test_cross_val_score_without_scorer_uses_complementary_accuracy():
    X, _, labels = three_blobs()
    classifier = ScarceClassifier(module="linear", priors="uniform", epochs=60, learning_rate=0.03)
    scores = cross_val_score(classifier, X, labels, cv=KFold(3))
    by_hand = [clone(classifier).fit(X[a], labels[a]).score(X[b], labels[b]) for a, b in KFold(3).split(X)]
    assert scores.tolist() == by_hand


def test_pipeline_and_train_test_split_work_with_labels():
    X, y, labels = three_blobs()
    X_train, X_test, labels_train, labels_test, _, y_test = train_test_split(X, labels, y, random_state=0)
    model = make_pipeline(
        MinMaxScaler(), ScarceClassifier(module="linear", priors="uniform", epochs=60, learning_rate=0.03)
    )
    model.fit(X_train, labels_train)
    assert model.score(X_test, y_test) > 0.9
    assert make_complementary_scorer()(model, X_test, labels_test) == pytest.approx(
        model.score(X_test, labels_test)
    )
