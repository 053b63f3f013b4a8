"""Score the candidates of a stack by the likelihood of held-out labels, drop clear losers early, and weight the rest."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scarce.errors import MethodError
from scarce.estimators.auto._mechanism_choice import MechanismChoice
from scarce.estimators.auto._mechanisms import Mechanism
from scarce.labels import ComplementaryLabels

_MIN_STANDARD_ERRORS = 3.0  # by which a candidate must lose on the first fold to be dropped
_MIN_PROBABILITY = (
    1e-4  # of every class: otherwise a single row on which a model is certain and wrong would rule it out
)


class NamedLearner(Protocol):
    """A learner of a table or of images."""

    @property
    def name(self) -> str:
        """The name in the comparison of candidates."""


L = TypeVar("L", bound=NamedLearner)
CrossFit = Callable[[Sequence[tuple[L, Tensor]], Sequence[int]], list[list[NDArray[np.float64]]]]
"""A function from pairs of a learner and log-likelihoods (n, q), and from numbers of folds, to the class probabilities of the rows
of these folds by models that were trained on the other folds: one list per pair, with one array per fold."""


@dataclass
class EvaluatedCandidate(Generic[L]):
    """A candidate with its predictions for held-out rows and the likelihoods of their labels, one array per fold."""

    learner: L
    mechanism: Mechanism
    likelihoods: list[NDArray[np.float64]] = field(default_factory=list)
    predictions: list[NDArray[np.float32]] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None


class CandidateEvaluator(Generic[L]):
    """Evaluate candidates fold by fold; those that clearly lose on the first fold are dropped."""

    def __init__(
        self,
        cross_fit: CrossFit[L],
        labels: ComplementaryLabels,
        chosen: MechanismChoice,
        folds: Sequence[NDArray[np.int64]],
        deadline: float,
    ) -> None:
        self.cross_fit, self.folds, self.deadline = cross_fit, folds, deadline
        self.mechanisms = chosen.mechanisms
        self.log_likelihoods = [mechanism.log_likelihood(labels) for mechanism in chosen.mechanisms]
        self.criterion = chosen.criterion.log_likelihood(labels).numpy()
        self.candidates: list[EvaluatedCandidate[L]] = []

    def evaluate(self, learners: Sequence[L]) -> None:
        """Cross-fit these learners under every mechanism; after the deadline, do nothing unless this is the first call."""
        self.complete(self.screen(learners))

    def screen(self, learners: Sequence[L]) -> list[EvaluatedCandidate[L]]:
        """Evaluate these learners under every mechanism on the first fold, and return the new candidates.

        After the deadline, do nothing unless there are no candidates yet.
        """
        if self.candidates and time.monotonic() > self.deadline:
            return []
        group = [
            EvaluatedCandidate(learner, mechanism) for learner in learners for mechanism in self.mechanisms
        ]
        self.candidates += group
        self._add_folds(group, [0])
        return group

    def complete(self, group: Sequence[EvaluatedCandidate[L]], most: int | None = None) -> None:
        """Evaluate candidates on all other folds unless they are clearly worse than the best; only the best `most` if given."""
        screened = [candidate for candidate in self.candidates if candidate.likelihoods]
        if not screened:
            return
        best = max(screened, key=first_score).likelihoods[0]
        kept = [
            candidate
            for candidate in group
            if candidate.likelihoods and not _is_clearly_worse(candidate.likelihoods[0], best)
        ]
        self._add_folds(
            sorted(kept, key=first_score, reverse=True)[:most] if most else kept, range(1, len(self.folds))
        )

    def weights(self, most: int | None = None) -> tuple[list[EvaluatedCandidate[L]], NDArray[np.float64]]:
        """Return the candidates that were evaluated on all folds, or the best `most` of them, and their stacking weights."""
        finished = [
            candidate for candidate in self.candidates if len(candidate.likelihoods) == len(self.folds)
        ]
        if most is not None:
            finished = sorted(finished, key=mean_score, reverse=True)[:most]
        if not finished:
            raise MethodError(
                f"all candidates failed, the first with: {self.candidates[0].error}; choose another module, or one method by name."
            )
        table = np.stack([np.concatenate(candidate.likelihoods) for candidate in finished], axis=1)
        return finished, stacking_weights(table)

    def held_out(
        self, finished: Sequence[EvaluatedCandidate[L]], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the weighted mean of the held-out predictions, of shape (n, q)."""
        mean = np.zeros(self.criterion.shape)
        for candidate, weight in zip(finished, weights, strict=True):
            for fold, p in zip(self.folds, candidate.predictions, strict=True):
                mean[fold] += weight * p
        return mean

    def _add_folds(self, group: Sequence[EvaluatedCandidate[L]], numbers: Sequence[int]) -> None:
        """Add the likelihoods of these folds; if training the models together fails, train them one by one to find which fails."""
        if not group or not numbers:
            return
        started = time.monotonic()
        names = [mechanism.name for mechanism in self.mechanisms]
        log_likelihoods = dict(zip(names, self.log_likelihoods, strict=True))
        jobs = [(candidate.learner, log_likelihoods[candidate.mechanism.name]) for candidate in group]
        try:
            fold_predictions = self.cross_fit(jobs, numbers)
        except Exception as error:
            if len(group) > 1:
                for candidate in group:
                    self._add_folds([candidate], numbers)
            else:
                group[0].error = f"{type(error).__name__}: {error}"
            return
        for candidate, predictions in zip(group, fold_predictions, strict=True):
            candidate.seconds += (time.monotonic() - started) / len(group)
            for number, p in zip(numbers, predictions, strict=True):
                candidate.likelihoods.append(label_likelihoods(p, self.criterion[self.folds[number]]))
                candidate.predictions.append(p.astype(np.float32))


def first_score(candidate: EvaluatedCandidate[Any]) -> float:
    """Return the mean log-likelihood of the labels of the first fold."""
    return float(np.log(candidate.likelihoods[0]).mean())


def mean_score(candidate: EvaluatedCandidate[Any]) -> float:
    """Return the mean log-likelihood of the labels of all folds."""
    return float(np.log(np.concatenate(candidate.likelihoods)).mean())


def _is_clearly_worse(likelihoods: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    """Return whether held-out labels are clearly less likely than under the best candidate, by a paired comparison of rows."""
    difference = np.log(best) - np.log(likelihoods)
    standard_error = difference.std() / np.sqrt(len(difference))
    return bool(difference.mean() > _MIN_STANDARD_ERRORS * standard_error)


def label_likelihoods(probabilities: Any, log_likelihood: Any) -> NDArray[np.float64]:
    """Σ_y p_iy e^{E_iy} / max_y e^{E_iy} of every row i, with p clipped to at least 10⁻⁴.

    Parameters
    ----------
    probabilities : array of shape (n, q)
        p.
    log_likelihood : array of shape (n, q)
        E.

    Returns
    -------
    array of shape (n,)
        Relative likelihoods of the labels.

    Examples
    --------
    >>> label_likelihoods([[0.2, 0.8], [0.5, 0.5]], [[0.0, -30.0], [0.0, 0.0]]).round(4).tolist()
    [0.2, 1.0]
    """
    e = np.asarray(log_likelihood, float)
    relative = np.exp(e - e.max(axis=1, keepdims=True))
    likelihoods: NDArray[np.float64] = (np.maximum(probabilities, _MIN_PROBABILITY) * relative).sum(axis=1)
    return likelihoods


def stacking_weights(likelihoods: Any, *, steps: int = 100, min_weight: float = 0.02) -> NDArray[np.float64]:
    """Maximize Σ_i log Σ_j w_j L_ij over weights w_j ≥ 0 with Σ_j w_j = 1, approximately, by EM steps from equal weights.

    A step is w_j ← w_j mean_i L_ij / Σ_l w_l L_il. There are few steps, so that models of nearly equal likelihood keep nearly
    equal weights. Weights below `min_weight` are set to zero at the end.

    Parameters
    ----------
    likelihoods : array of shape (n, m)
        L_ij > 0, the likelihood of the labels of row i under model j, which was not trained on them.
    steps : int
        Number of EM steps.
    min_weight : float
        The smallest weight that is kept; the largest weight is always kept.

    Returns
    -------
    array of shape (m,)
        w.

    Examples
    --------
    >>> stacking_weights([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], steps=1).round(3).tolist()
    [0.6, 0.4]
    >>> stacking_weights([[0.9, 0.1], [0.8, 0.2]]).tolist()
    [1.0, 0.0]
    """
    L = np.asarray(likelihoods, float)
    weights = np.full(L.shape[1], 1 / L.shape[1])
    for _ in range(steps):
        weights = weights * (L / (L @ weights)[:, None]).mean(axis=0)
    weights = np.where((weights >= min_weight) | (weights == weights.max()), weights, 0.0)
    normalized: NDArray[np.float64] = weights / weights.sum()
    return normalized
