"""Predictions of rows by models that have not seen their labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scarce.errors import DivergedError
from scarce.estimators.auto.batched_mlp import Task
from scarce.estimators.auto.feature_maps import Features, predict_probabilities
from scarce.estimators.auto.learners import Learner, fit_learners

__all__ = ["cross_fit", "make_folds"]


def make_folds(n: int, n_folds: int = 4, *, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the rows of each fold: random, of nearly equal size, and none empty.

    Examples
    --------
    >>> [len(fold) for fold in make_folds(10)]
    [3, 3, 2, 2]
    """
    order = np.random.default_rng(seed).permutation(n)
    return [np.sort(order[start::n_folds]) for start in range(min(n_folds, n))]


def cross_fit(
    features: Features,
    jobs: Sequence[tuple[Learner, Tensor]],
    folds: Sequence[NDArray[np.int64]],
    predicted: Sequence[int],
    seed: int = 0,
) -> list[list[NDArray[np.float64]]]:
    """Return, for each learner and log-likelihood, the class probabilities of the rows of the folds numbered `predicted`.

    They come from models that were fitted to all other folds. Networks of all jobs are trained together.

    Examples
    --------
    >>> import torch
    >>> from scarce.estimators.auto.feature_maps import make_features
    >>> from scarce.estimators.auto.learners import LinearLearner
    >>> folds = make_folds(8)
    >>> features, log_likelihood = make_features(np.arange(8.0)[:, None]), torch.zeros(8, 3)
    >>> ((p,),) = cross_fit(features, [(LinearLearner(C=1.0), log_likelihood)], folds, predicted=[0])
    >>> p.round(3).tolist()  # two rows; the labels say nothing
    [[0.333, 0.333, 0.333], [0.333, 0.333, 0.333]]
    """
    all_rows = np.arange(features.columns.shape[0])
    training = {fold: np.setdiff1d(all_rows, folds[fold]) for fold in predicted}
    pairs = [
        (learner, fold, Task(training[fold], log_likelihood))
        for learner, log_likelihood in jobs
        for fold in predicted
    ]
    models = fit_learners(features, [(learner, task) for learner, _, task in pairs], seed)
    predictions = [
        predict_probabilities(model, features.matrix(learner.kind)[folds[fold]])
        for model, (learner, fold, _) in zip(models, pairs, strict=True)
    ]
    if not all(np.isfinite(p).all() for p in predictions):
        raise DivergedError(f"{jobs[0][0].name} predicts numbers that are not finite; its training diverged.")
    size = len(predicted)
    return [predictions[start : start + size] for start in range(0, len(predictions), size)]
