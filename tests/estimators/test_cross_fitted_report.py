"""`cross_fitted_report`: the report on copies that predict rows they were not trained on."""

import numpy as np
import pytest

from scarce import ScarceClassifier
from scarce.errors import LabelError
from scarce.estimators import cross_fitted_report
from scarce.testing import three_blobs


@pytest.mark.parametrize("kind", ["complementary", "ordinary"])
def test_cross_fitted_report_predicts_held_out_rows(kind):
    X, y, labels = three_blobs(60)
    target = labels if kind == "complementary" else y
    method = "cc" if kind == "complementary" else "scarce"
    classifier = ScarceClassifier(method, "linear", labels=kind, epochs=20, learning_rate=0.1)
    report = cross_fitted_report(classifier.fit(X, target), X, target)
    assert report.n_examples == 60
    if kind == "ordinary":  # then it is the ordinary accuracy
        order = np.random.default_rng(0).permutation(60)
        right = 0
        for start in range(4):
            fold = np.sort(order[start::4])
            rest = np.setdiff1d(np.arange(60), fold)
            right += (classifier.fit(X[rest], y[rest]).predict(X[fold]) == y[fold]).sum()
        assert report.accuracy.value == pytest.approx(right / 60, abs=1e-9)


def test_cross_fitted_report_rejects_too_few_rows():
    X, _, labels = three_blobs(6)
    classifier = ScarceClassifier("cc", "linear", epochs=1).fit(X, labels)
    with pytest.raises(LabelError, match="6 examples are too few to hold some out; expected at least 8"):
        cross_fitted_report(classifier, X, labels)
