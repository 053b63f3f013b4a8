"""The contract of an estimator, checked for `ScarceClassifier`."""

import pytest

from scarce import ScarceClassifier
from scarce.testing import complementary_estimator_checks

ESTIMATORS = [
    ScarceClassifier(module="linear", epochs=60, learning_rate=0.02),
    ScarceClassifier(
        priors="uniform", epochs=100, early_stopping=True, validation_fraction=0.3, patience=100
    ),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["linear", "mlp"])
@pytest.mark.parametrize(("name", "check"), complementary_estimator_checks())
def test_classifier_passes_estimator_check(name, check, estimator):
    check(estimator)
