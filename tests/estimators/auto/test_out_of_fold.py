"""Out-of-fold predictions do not depend on the labels of their own fold."""

import numpy as np
from helpers.mechanisms import random_log_likelihoods

from scarce.estimators.auto.batched_mlp import MLPSettings
from scarce.estimators.auto.feature_maps import make_features
from scarce.estimators.auto.learners import LinearLearner, MLPLearner, cross_fit, make_folds


def test_cross_fit_does_not_depend_on_own_labels():
    random = np.random.default_rng(0)
    features, folds = make_features(random.normal(size=(40, 3))), make_folds(40, seed=2)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(40))
    log_likelihood = random_log_likelihoods(40, 3)
    changed = log_likelihood.clone()
    changed[folds[1]] = random_log_likelihoods(len(folds[1]), 3, seed=9)
    for learner in (
        LinearLearner(1.0),
        LinearLearner(10.0, "soft3", "kernel"),
        MLPLearner("m", MLPSettings(8, steps=9)),
    ):
        (one, _), (two, other) = (
            cross_fit(features, [(learner, e)], folds, [1, 2])[0] for e in (log_likelihood, changed)
        )
        assert np.array_equal(one, two)
        assert not np.allclose(other, cross_fit(features, [(learner, log_likelihood)], folds, [2])[0][0])
