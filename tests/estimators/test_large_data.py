"""Predicting many rows in batches."""

import numpy as np
import pytest
import torch

from scarce import ScarceClassifier
from scarce.simulate import uniform
from scarce.testing import three_blobs


@pytest.mark.parametrize("method", ["scarce", "cpe-t", "least-excluded", "refine"])
def test_predictions_in_batches_equal_predictions_of_all_rows(method):
    X, y, _ = three_blobs()
    X, labels = np.tile(X, (9, 1)), uniform(y, seed=0)
    classifier = ScarceClassifier(
        method, module="linear", priors="uniform", transition="uniform", epochs=2, learning_rate=0.03
    ).fit(X[: len(y)], labels)
    assert len(X) > 2 * 1024
    with torch.no_grad():
        logits = classifier.model_.eval()(torch.from_numpy(X.astype(np.float32)))
        scores = classifier.method_.scores(logits)
        p = classifier.method_.probabilities(logits.double())
    np.testing.assert_allclose(classifier.logits(X), logits, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(classifier.decision_function(X), scores, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(classifier.predict_proba(X), p, rtol=1e-5, atol=1e-6)
    assert classifier.predict(X).tolist() == classifier.classes_[scores.argmax(dim=1)].tolist()
