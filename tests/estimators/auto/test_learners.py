"""Learners of the automatic default as models of raw inputs."""

import numpy as np
import torch
from helpers.mechanisms import random_log_likelihoods
from scipy import sparse

from scarce.estimators.auto._batched_mlp import Task
from scarce.estimators.auto._feature_maps import make_features, predict_probabilities
from scarce.estimators.auto._learners import default_learners, fit_learners


def test_learner_models_accept_raw_inputs():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 100, 1e-3] + [0, 1.7e9, 5]
    for raw in (X, sparse.csr_matrix(np.abs(X) * [1, 1e-9, 1])):
        features = make_features(raw)
        dense = raw.toarray() if sparse.issparse(raw) else raw
        for learner in default_learners(features, 3)[::4]:
            (head,) = fit_learners(features, [(learner, Task(np.arange(30), random_log_likelihoods(30, 3)))])
            whole = features.model(learner.kind, head)(torch.from_numpy(dense))
            expected = predict_probabilities(head, features.matrix(learner.kind))
            assert np.allclose(torch.softmax(whole.double(), 1), expected, atol=1e-4)
