"""The automatic default for tables, sparse text and embeddings: a stack of learners under several mechanisms."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce._validation import check_number, check_option, check_priors
from scarce.errors import FeatureError, MethodError
from scarce.estimators.auto.batched_mlp import Task
from scarce.estimators.auto.choice import Candidate, Choice
from scarce.estimators.auto.feature_maps import Features, make_features
from scarce.estimators.auto.learners import (
    FAMILIES,
    Learner,
    LinearLearner,
    default_learners,
    first_learner,
    fit_learners,
)
from scarce.estimators.auto.mechanism_choice import MechanismChoice, check_informative, choose_mechanisms
from scarce.estimators.auto.mechanisms import AnswersWithErrors, Mechanism, given_answers
from scarce.estimators.auto.out_of_fold import cross_fit, make_folds
from scarce.estimators.auto.stacking_weights import label_likelihoods, stacking_weights
from scarce.labels import ComplementaryLabels
from scarce.models import Stack

__all__ = ["StackResult", "fit_stack"]

Progress = Callable[[float, str], None]

_MOST_JUDGED = 20_000  # rows; larger data are judged on a sample of so many
_JUDGING = 0.6  # of the time limit; the rest is for fitting to all rows
_ESTIMATION = 60  # iterations of the linear models that parameters of mechanisms are estimated with
_CLEARLY = 3.0  # standard errors by which a candidate must lose on the first fold to be dropped


@dataclass(frozen=True, eq=False)
class StackResult:
    """A stack, from raw inputs to log-probabilities, and how it was chosen.

    Attributes
    ----------
    model : Stack
        The stack.
    choice : Choice
        What was tried, and why this was chosen.
    rows : array of int
        The rows that candidates were judged by.
    held_out : array of shape (len(rows), q)
        Class probabilities of these rows from the same stack, each by members that were fitted without it.
    """

    model: Stack
    choice: Choice
    rows: NDArray[np.int64]
    held_out: NDArray[np.float64]


@dataclass
class _Judged:
    """A candidate, with its predictions of held-out rows and the likelihoods of their labels, fold after fold."""

    learner: Learner
    mechanism: Mechanism
    likelihoods: list[NDArray[np.float64]] = field(default_factory=list)
    predictions: list[NDArray[np.float32]] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None


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
    """Fit learners × mechanisms, judge them by the likelihood of held-out labels, and stack the best.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The features.
    labels : ComplementaryLabels
        What is known of each row.
    seed : int
        Of folds, landmarks and networks: the same seed gives the same result.
    mechanisms : collection of str, optional
        Some of candidate-sets, scar, class-conditional and answers; by default what the labels allow.
    learners : collection of str, optional
        Some of the families linear, nystroem and mlp; by default all.
    priors : sequence of q numbers, optional
        Class priors π, for SCAR; by default they are estimated.
    time_limit : float, optional
        Seconds after which no candidates are added. There is always a result.
    progress : callable, optional
        Called with the share of the work that is done, and what is being done.

    Examples
    --------
    >>> import torch
    >>> from sklearn.datasets import load_iris
    >>> from scarce.simulate import uniform
    >>> X, y = load_iris(return_X_y=True)
    >>> result = fit_stack(X, uniform(y, seed=0), learners=["linear"])
    >>> found = result.model(torch.from_numpy(X)).argmax(dim=1).numpy()
    >>> bool((found == y).mean() > 0.9)  # never having seen a true label
    True
    >>> result.choice.criterion
    'candidate-sets'
    """
    started = time.monotonic()
    if time_limit is not None:
        check_number("time_limit", time_limit)
    check_informative(labels)
    if X.shape[0] != len(labels):
        raise FeatureError(f"X has {X.shape[0]} rows and there are {len(labels)} labels; expected as many.")
    report = progress or (lambda share, text: None)
    deadline = float("inf") if time_limit is None else started + time_limit
    judging_ends = float("inf") if time_limit is None else started + _JUDGING * time_limit
    features = make_features(X, seed)
    rows = _sample(len(labels), seed)
    part, known = (features, labels) if len(rows) == len(labels) else (features.take(rows), labels[rows])
    folds = make_folds(len(known), seed=seed)
    report(0.0, "mechanisms")
    grid = _grid(part, labels.n_classes, learners)
    given = None if priors is None else torch.tensor(check_priors(priors, labels.classes))
    chosen = _choose_mechanisms(part, known, folds, mechanisms, given, seed)
    judge = _Judge(part, known, chosen, folds, seed, judging_ends)
    networks = [learner for learner in grid if learner.family == "mlp"]
    groups = [[learner] for learner in grid if learner.family != "mlp"] + [networks] * bool(networks)
    for place, group in enumerate(groups):
        report(0.2 + 0.6 * place / len(groups), group[0].name)
        judge.judge(group)
    finished, weights = judge.weights()
    report(0.8, "fitting to all rows")
    members, weights = _refit(features, labels, finished, weights, seed, deadline)
    candidates = _candidates(judge.judged, finished, weights)
    stack = Stack(members, [weight for weight in weights if weight > 0])
    choice = Choice(
        candidates,
        chosen.criterion.name,
        chosen.gate,
        tuple(chosen.priors.tolist()),
        _reason(candidates, chosen),
        _error_rates(chosen.criterion, known),
    )
    report(1.0, "done")
    return StackResult(stack.eval(), choice, rows, judge.held_out(finished, weights))


class _Judge:
    """Judges candidates fold by fold; those that clearly lose on the first fold are not judged further."""

    def __init__(
        self,
        features: Features,
        labels: ComplementaryLabels,
        chosen: MechanismChoice,
        folds: Sequence[NDArray[np.int64]],
        seed: int,
        ends: float,
    ) -> None:
        self.features, self.folds, self.seed, self.ends = features, folds, seed, ends
        self.mechanisms = chosen.mechanisms
        self.evidence = [mechanism.log_likelihood(labels) for mechanism in chosen.mechanisms]
        self.criterion = chosen.criterion.log_likelihood(labels).numpy()
        self.judged: list[_Judged] = []

    def judge(self, learners: Sequence[Learner]) -> None:
        """Cross-fit learners under every mechanism."""
        if self.judged and time.monotonic() > self.ends:
            return
        group = [
            (_Judged(learner, mechanism), evidence)
            for learner in learners
            for mechanism, evidence in zip(self.mechanisms, self.evidence, strict=True)
        ]
        self.judged += [one for one, _ in group]
        self._advance(group, [0])
        best = max(
            (one.likelihoods[0] for one in self.judged if one.likelihoods),
            key=lambda found: np.log(found).mean(),
            default=None,
        )
        if best is not None:
            group = [(one, e) for one, e in group if one.likelihoods and not _loses(one.likelihoods[0], best)]
            self._advance(group, range(1, len(self.folds)))

    def weights(self) -> tuple[list[_Judged], NDArray[np.float64]]:
        """Return the candidates that were judged on all folds, and their weights."""
        finished = [one for one in self.judged if len(one.likelihoods) == len(self.folds)]
        if not finished:
            raise MethodError(
                f"all candidates failed, the first with: {self.judged[0].error}; name other learners, or a method."
            )
        table = np.stack([np.concatenate(one.likelihoods) for one in finished], axis=1)
        return finished, stacking_weights(table)

    def held_out(self, finished: Sequence[_Judged], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted mean of held-out predictions, for all rows that were judged."""
        mean = np.zeros(self.criterion.shape)
        for one, weight in zip(finished, weights, strict=True):
            for fold, p in zip(self.folds, one.predictions, strict=True):
                mean[fold] += weight * p
        return mean

    def _advance(self, group: list[tuple[_Judged, Tensor]], numbers: Sequence[int]) -> None:
        """Add the likelihoods of some folds; if the models cannot be trained together, train them one by one."""
        if not group or not numbers:
            return
        began = time.monotonic()
        try:
            jobs = [(one.learner, evidence) for one, evidence in group]
            found = cross_fit(self.features, jobs, self.folds, numbers, self.seed)
        except Exception as error:
            if len(group) > 1:
                for pair in group:
                    self._advance([pair], numbers)
            else:
                group[0][0].error = f"{type(error).__name__}: {error}"
            return
        for (one, _), parts in zip(group, found, strict=True):
            one.seconds += (time.monotonic() - began) / len(group)
            for number, p in zip(numbers, parts, strict=True):
                one.likelihoods.append(label_likelihoods(p, self.criterion[self.folds[number]]))
                one.predictions.append(p.astype(np.float32))


def _loses(likelihoods: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    """Return whether held-out labels are clearly less likely than under the best candidate, compared row by row."""
    difference = np.log(best) - np.log(likelihoods)
    error = difference.std() / np.sqrt(len(difference))
    return bool(difference.mean() > _CLEARLY * error)


def _sample(n: int, seed: int) -> NDArray[np.int64]:
    """Return the rows to judge by, in order."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:_MOST_JUDGED])


def _grid(features: Features, n_classes: int, families: Collection[str] | None) -> list[Learner]:
    for family in families or ():
        check_option("learner", family, FAMILIES)
    grid = default_learners(features, n_classes)
    kept = [learner for learner in grid if families is None or learner.family in families]
    if not kept:
        raise MethodError("sparse features suit the learners linear and mlp only; name one of them.")
    return kept


def _choose_mechanisms(
    features: Features,
    labels: ComplementaryLabels,
    folds: Sequence[NDArray[np.int64]],
    names: Collection[str] | None,
    priors: Tensor | None,
    seed: int,
) -> MechanismChoice:
    first = replace(first_learner(features), iterations=_ESTIMATION)
    kernel = LinearLearner(10.0, "soft3", "kernel", _ESTIMATION)
    both = [first] if features.is_sparse else [first, kernel]

    def out_of_fold(evidence: Tensor, learners: Sequence[Learner] = (first,)) -> NDArray[np.float64]:
        mean = np.zeros(labels.shape)
        for learner in learners:
            (parts,) = cross_fit(features, [(learner, evidence)], folds, range(len(folds)), seed)
            for fold, p in zip(folds, parts, strict=True):
                mean[fold] += p / len(learners)
        return mean

    return choose_mechanisms(
        labels, out_of_fold, lambda evidence: out_of_fold(evidence, both), folds, names, priors
    )


def _refit(
    features: Features,
    labels: ComplementaryLabels,
    finished: Sequence[_Judged],
    weights: NDArray[np.float64],
    seed: int,
    deadline: float,
) -> tuple[list[nn.Module], NDArray[np.float64]]:
    """Fit the members to all rows, the heaviest first until time is up; return them and the weights that remain."""
    every = np.arange(len(labels))
    evidence = {one.mechanism.name: one.mechanism.log_likelihood(labels) for one in finished}
    places = [int(place) for place in np.argsort(-weights, kind="stable") if weights[place] > 0]
    groups = [[place] for place in places if finished[place].learner.family != "mlp"]
    if networks := [place for place in places if finished[place].learner.family == "mlp"]:
        groups.insert(0 if networks[0] == places[0] else len(groups), networks)
    models: dict[int, nn.Module] = {}
    for group in groups:
        if models and time.monotonic() > deadline:
            break
        chosen = [finished[place] for place in group]
        jobs = [(one.learner, Task(every, evidence[one.mechanism.name])) for one in chosen]
        for place, one, head in zip(group, chosen, fit_learners(features, jobs, seed), strict=True):
            models[place] = features.model(one.learner.kind, head)
    kept = np.where(np.isin(np.arange(len(weights)), list(models)), weights, 0.0)
    return [models[place] for place in sorted(models)], kept / kept.sum()


def _candidates(
    judged: Sequence[_Judged], finished: Sequence[_Judged], weights: NDArray[np.float64]
) -> tuple[Candidate, ...]:
    weight_of = {id(one): float(weight) for one, weight in zip(finished, weights, strict=True)}
    found = [
        Candidate(
            name=f"{one.learner.name}, {one.mechanism.name}",
            mechanism=one.mechanism.name,
            learner=one.learner.name,
            weight=weight_of.get(id(one), 0.0),
            score=float(np.log(np.concatenate(one.likelihoods)).mean()) if id(one) in weight_of else None,
            seconds=one.seconds,
            error=one.error,
        )
        for one in judged
    ]
    return tuple(sorted(found, key=lambda c: (-c.weight, -np.inf if c.score is None else -c.score)))


def _error_rates(criterion: Mechanism, labels: ComplementaryLabels) -> tuple[float, float] | None:
    """Return the mean error rates of the answers to labels, if answers judge."""
    if not isinstance(criterion, AnswersWithErrors):
        return None
    who = np.searchsorted(criterion.annotators, given_answers(labels).annotator)
    rates = criterion.false_negative_rates, criterion.false_positive_rates
    miss, false = (float(rate.numpy()[who].mean()) for rate in rates)
    return miss, false


def _reason(candidates: Sequence[Candidate], chosen: MechanismChoice) -> str:
    members = [one for one in candidates if one.weight > 0]
    failed = sum(one.error is not None for one in candidates)
    names = ", ".join(f"{one.name} ({one.weight:.2f})" for one in members[:3])
    more = f" and {len(members) - 3} more" * (len(members) > 3)
    return (
        f"{len(members)} of {len(candidates)} candidates, weighted by the likelihood of held-out labels "
        f"({chosen.criterion.name}): {names}{more}; {chosen.reason}" + f"; {failed} failed" * bool(failed)
    )
