"""The learners of the automatic default, and their out-of-fold predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce.errors import DivergedError
from scarce.estimators.auto._batched_mlp import MLPSettings, Task, fit_mlps
from scarce.estimators.auto._feature_maps import Features, Kind, predict_probabilities
from scarce.estimators.auto._linear_likelihood import Start, fit_linear

FAMILIES = ("linear", "nystroem", "mlp")
_MAX_NETWORK_WEIGHTS = 2**22  # on wider sparse data only linear models are trained
_SPARSE_SCALE = 10.0  # networks learn slowly from rows of norm 1


@dataclass(frozen=True)
class LinearLearner:
    """A linear model on scaled columns or kernel features; see `scarce.estimators.auto._linear_likelihood`."""

    C: float
    start: Start = "soft"
    kind: Kind = "columns"
    iterations: int = 150

    @property
    def family(self) -> str:
        """``"linear"`` or ``"nystroem"``."""
        return "nystroem" if self.kind == "kernel" else "linear"

    @property
    def name(self) -> str:
        """The family and C, such as ``"linear C=1"``."""
        return f"{self.family} C={self.C:g}"


@dataclass(frozen=True)
class MLPLearner:
    """A network with one hidden layer; see `scarce.estimators.auto._batched_mlp`."""

    name: str
    settings: MLPSettings
    family: str = "mlp"
    kind: Kind = "columns"


Learner = LinearLearner | MLPLearner


def fit_learners(features: Features, jobs: Sequence[tuple[Learner, Task]], seed: int = 0) -> list[nn.Module]:
    """Return one model, from features to logits, for every pair of learner and task; networks are trained together.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from scarce.estimators.auto._feature_maps import make_features
    >>> features, task = make_features(np.array([[-1.0], [1.0]])), Task(np.arange(2), torch.eye(2) * 30)
    >>> (model,) = fit_learners(features, [(LinearLearner(C=1.0), task)])
    >>> model(features.columns).argmax(dim=1).tolist()
    [0, 1]
    """
    models: dict[int, nn.Module] = {}
    networks: list[tuple[int, MLPLearner, Task]] = []
    for index, (learner, task) in enumerate(jobs):
        if isinstance(learner, LinearLearner):
            X = features.matrix(learner.kind)[task.rows]
            X = X if features.is_sparse else X.numpy()
            log_likelihood = task.log_likelihood[task.rows]
            models[index] = fit_linear(
                X, log_likelihood, learner.C, learner.start, iterations=learner.iterations
            )
        else:
            networks.append((index, learner, task))
    if networks:
        indices, learners, tasks = zip(*networks, strict=True)
        settings = [learner.settings for learner in learners]
        X = features.dense * _SPARSE_SCALE if features.is_sparse else features.columns
        for index, model in zip(indices, fit_mlps(X, tasks, settings, seed=seed), strict=True):
            if features.is_sparse:
                model.hidden.weight.mul_(_SPARSE_SCALE)
            models[index] = model
    return [models[index] for index in range(len(jobs))]


def first_learner(features: Features) -> LinearLearner:
    """Return the linear learner that is evaluated first, with a typical C for dense or sparse features."""
    return LinearLearner(10.0 if features.is_sparse else 1.0)


def default_learners(features: Features, n_classes: int) -> list[Learner]:
    """Return the learners of the grid, the cheapest first.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.estimators.auto._feature_maps import make_features
    >>> [learner.name for learner in default_learners(make_features(np.eye(5)), 3)][:4]
    ['linear C=1', 'linear C=0.01', 'linear C=0.1', 'linear C=10']
    """
    first = first_learner(features)
    hidden = 64 if features.is_sparse or n_classes > 30 else 128
    if features.is_sparse:
        learners: list[Learner] = [first, *(replace(first, C=C) for C in (1.0, 3.0, 30.0))]
        if features.columns.shape[1] * hidden <= _MAX_NETWORK_WEIGHTS:
            learners.append(MLPLearner("mlp", MLPSettings(hidden=64, steps=150)))
        return learners
    return [
        first,
        *(replace(first, C=C) for C in (0.01, 0.1, 10.0)),
        LinearLearner(10.0, "soft3", "kernel"),
        LinearLearner(100.0, "soft3", "kernel"),
        MLPLearner("mlp noise=0.5", MLPSettings(hidden=hidden, noise=0.5)),
        MLPLearner("mlp", MLPSettings(hidden=hidden)),
        MLPLearner("mlp noise=0.5 warm", MLPSettings(hidden=hidden, noise=0.5, warm_up=0.25)),
    ]


def make_folds(n: int, n_folds: int = 4, *, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the sorted row indices of random folds of nearly equal size, none of them empty.

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
    """Return out-of-fold class probabilities: those of each fold come from models trained on all other folds.

    Parameters
    ----------
    features : Features
        The features of n rows.
    jobs : sequence of (Learner, Tensor of shape (n, q))
        Learners, and the log-likelihoods of the labels to train them with; networks of all jobs are trained together.
    folds : sequence of arrays of int
        The row indices of each fold.
    predicted : sequence of int
        The indices of the folds to predict.
    seed : int
        Random seed of the learners.

    Returns
    -------
    list of lists of arrays of shape (fold size, q)
        One list per job, with one array per predicted fold.

    Examples
    --------
    >>> import torch
    >>> from scarce.estimators.auto._feature_maps import make_features
    >>> folds = make_folds(8)
    >>> features, log_likelihood = make_features(np.arange(8.0)[:, None]), torch.zeros(8, 3)
    >>> ((p,),) = cross_fit(features, [(LinearLearner(C=1.0), log_likelihood)], folds, predicted=[0])
    >>> p.round(3).tolist()  # two rows, uninformative labels
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
        raise DivergedError(
            f"{jobs[0][0].name} predicts numbers that are not finite, because training diverged; remove extreme values from X."
        )
    size = len(predicted)
    return [predictions[start : start + size] for start in range(0, len(predictions), size)]
