"""Fit a stack to a table: train learners under several mechanisms, score them on held-out labels, and combine the best."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce._validation import check_number, check_option, check_priors
from scarce.errors import FeatureError, MethodError
from scarce.estimators.auto._batched_mlp import Task
from scarce.estimators.auto._candidate_evaluation import CandidateEvaluator, EvaluatedCandidate
from scarce.estimators.auto._feature_maps import Features, make_features
from scarce.estimators.auto._learners import (
    FAMILIES,
    Learner,
    LinearLearner,
    cross_fit,
    default_learners,
    first_learner,
    fit_learners,
    make_folds,
)
from scarce.estimators.auto._mechanism_choice import MechanismChoice, check_informative, choose_mechanisms
from scarce.estimators.auto.result import Progress, StackResult, make_choice
from scarce.labels import ComplementaryLabels
from scarce.models import Stack

_MAX_EVALUATION_ROWS = 20_000  # on larger data, candidates are evaluated on a sample of this size
_EVALUATION_FRACTION = 0.6  # of the time limit; the rest is for training the members on all rows
_ESTIMATION_ITERATIONS = 60  # of the linear models that the parameters of mechanisms are estimated from


def fit_stack(
    X: Any,
    labels: ComplementaryLabels,
    *,
    seed: int = 0,
    mechanisms: Collection[str] | None = None,
    learners: Collection[str] | None = None,
    priors: Sequence[float] | NDArray[np.float64] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> StackResult:
    """Train learners × mechanisms, score them by the likelihood of held-out labels, and stack the best.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The features.
    labels : ComplementaryLabels
        The labels of the n rows.
    seed : int
        Random seed of the folds, landmarks and networks; the same seed gives the same result.
    mechanisms : collection of {"candidate-sets", "scar", "class-conditional", "answers"}, optional
        The models of how the labels arise that learners are trained under; by default those that the labels suggest.
    learners : collection of {"linear", "nystroem", "mlp"}, optional
        The kinds of learners; by default all.
    priors : sequence of q numbers, optional
        Class priors π, used for SCAR; by default they are estimated.
    time_limit : float, optional
        Seconds after which no more candidates are added; at least one is always fitted.
    progress : callable, optional
        Called with the fraction of the work that is done, from 0 to 1, and the name of the current step.

    Returns
    -------
    StackResult
        The stack, the choice, and out-of-fold predictions.

    Raises
    ------
    LabelError
        If no example has a label.
    FeatureError
        If `X` and `labels` differ in length.
    MethodError
        If a learner or mechanism is unknown or does not suit the data, or if all candidates fail.

    See Also
    --------
    scarce.ScarceClassifier : The same with the interface of scikit-learn.
    Choice : What was tried and chosen.

    Examples
    --------
    >>> import torch
    >>> from sklearn.datasets import load_iris
    >>> from scarce.simulate import uniform
    >>> X, y = load_iris(return_X_y=True)
    >>> result = fit_stack(X, uniform(y, seed=0), learners=["linear"])
    >>> predicted = result.model(torch.from_numpy(X)).argmax(dim=1).numpy()
    >>> bool((predicted == y).mean() > 0.9)  # trained without any true label
    True
    >>> result.choice.criterion
    'candidate-sets'
    """
    started = time.monotonic()
    if time_limit is not None:
        check_number("time_limit", time_limit)
    check_informative(labels)
    if X.shape[0] != len(labels):
        raise FeatureError(
            f"X has {X.shape[0]} rows and there are {len(labels)} labels; expected one label per row: pass both of the same "
            "examples."
        )
    report = progress or (lambda fraction, step: None)
    deadline = float("inf") if time_limit is None else started + time_limit
    evaluation_deadline = float("inf") if time_limit is None else started + _EVALUATION_FRACTION * time_limit
    features = make_features(X, seed)
    rows = _sample_rows(len(labels), seed)
    sample, known = (features, labels) if len(rows) == len(labels) else (features.take(rows), labels[rows])
    folds = make_folds(len(known), seed=seed)
    report(0.0, "mechanisms")
    grid = _grid(sample, labels.n_classes, learners)
    given = None if priors is None else torch.tensor(check_priors(priors, labels.classes))
    chosen = _choose_mechanisms(sample, known, folds, mechanisms, given, seed)

    def cross_fit_sample(
        jobs: Sequence[tuple[Learner, Tensor]], numbers: Sequence[int]
    ) -> list[list[NDArray[np.float64]]]:
        return cross_fit(sample, jobs, folds, numbers, seed)

    evaluator = CandidateEvaluator(cross_fit_sample, known, chosen, folds, evaluation_deadline)
    networks = [learner for learner in grid if learner.family == "mlp"]
    groups = [[learner] for learner in grid if learner.family != "mlp"] + [networks] * bool(networks)
    for index, group in enumerate(groups):
        report(0.2 + 0.6 * index / len(groups), group[0].name)
        evaluator.evaluate(group)
    finished, weights = evaluator.weights()
    report(0.8, "fitting to all rows")
    members, weights = _refit(features, labels, finished, weights, seed, deadline)
    stack = Stack(members, [weight for weight in weights if weight > 0])
    choice = make_choice(evaluator.candidates, finished, weights, chosen, known)
    report(1.0, "done")
    return StackResult(stack.eval(), choice, rows, evaluator.held_out(finished, weights))


def _sample_rows(n: int, seed: int) -> NDArray[np.int64]:
    """Return the sorted indices of the rows to evaluate on."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:_MAX_EVALUATION_ROWS])


def _grid(features: Features, n_classes: int, families: Collection[str] | None) -> list[Learner]:
    for family in families or ():
        check_option("learner", family, FAMILIES)
    grid = default_learners(features, n_classes)
    kept = [learner for learner in grid if families is None or learner.family in families]
    if not kept:
        raise MethodError(
            "these learners do not work with sparse features; expected 'linear' or 'mlp': choose one of them."
        )
    return kept


def _choose_mechanisms(
    features: Features,
    labels: ComplementaryLabels,
    folds: Sequence[NDArray[np.int64]],
    names: Collection[str] | None,
    priors: Tensor | None,
    seed: int,
) -> MechanismChoice:
    first = replace(first_learner(features), iterations=_ESTIMATION_ITERATIONS)
    kernel = LinearLearner(10.0, "soft3", "kernel", _ESTIMATION_ITERATIONS)
    both = [first] if features.is_sparse else [first, kernel]

    def out_of_fold(log_likelihood: Tensor, learners: Sequence[Learner] = (first,)) -> NDArray[np.float64]:
        mean = np.zeros(labels.shape)
        for learner in learners:
            (predictions,) = cross_fit(features, [(learner, log_likelihood)], folds, range(len(folds)), seed)
            for fold, p in zip(folds, predictions, strict=True):
                mean[fold] += p / len(learners)
        return mean

    return choose_mechanisms(
        labels, out_of_fold, lambda log_likelihood: out_of_fold(log_likelihood, both), folds, names, priors
    )


def _refit(
    features: Features,
    labels: ComplementaryLabels,
    finished: Sequence[EvaluatedCandidate[Learner]],
    weights: NDArray[np.float64],
    seed: int,
    deadline: float,
) -> tuple[list[nn.Module], NDArray[np.float64]]:
    """Train the members on all rows until the deadline, the one with the largest weight first; return them and their weights."""
    all_rows = np.arange(len(labels))
    log_likelihoods = {
        candidate.mechanism.name: candidate.mechanism.log_likelihood(labels) for candidate in finished
    }
    members = [int(member) for member in np.argsort(-weights, kind="stable") if weights[member] > 0]
    groups = [[member] for member in members if finished[member].learner.family != "mlp"]
    if networks := [member for member in members if finished[member].learner.family == "mlp"]:
        groups.insert(0 if networks[0] == members[0] else len(groups), networks)
    models: dict[int, nn.Module] = {}
    for group in groups:
        if models and time.monotonic() > deadline:
            break
        chosen = [finished[member] for member in group]
        jobs = [
            (candidate.learner, Task(all_rows, log_likelihoods[candidate.mechanism.name]))
            for candidate in chosen
        ]
        for member, candidate, head in zip(group, chosen, fit_learners(features, jobs, seed), strict=True):
            models[member] = features.model(candidate.learner.kind, head)
    kept = np.where(np.isin(np.arange(len(weights)), list(models)), weights, 0.0)
    return [models[member] for member in sorted(models)], kept / kept.sum()
