"""Rank candidates that were evaluated on held-out labels, with a preference for the first."""

import math

import numpy as np
from numpy.typing import NDArray

from scarce.errors import MethodError
from scarce.estimators.auto._candidate_evaluation import CandidateEvaluator, EvaluatedCandidate
from scarce.estimators.auto._image_learners import ImageLearner


def best_candidates(evaluator: CandidateEvaluator[ImageLearner]) -> list[EvaluatedCandidate[ImageLearner]]:
    """Return the candidates that did not fail, best first, by `doubtful_score`: with a preference for the first."""
    screened = [candidate for candidate in evaluator.candidates if candidate.likelihoods]
    if not screened:
        raise MethodError(f"all networks failed, the first with: {evaluator.candidates[0].error}")
    first = screened[0].likelihoods[0]
    return sorted(
        screened, key=lambda candidate: doubtful_score(candidate.likelihoods[0], first), reverse=True
    )


def doubtful_score(likelihoods: NDArray[np.float64], first: NDArray[np.float64]) -> float:
    """Return the mean log-likelihood of held-out labels, minus two standard errors of its difference from that of the first.

    So few held-out labels do not choose an unusual augmentation or network instead of the first.

    Examples
    --------
    >>> first, second = np.array([0.5, 0.5]), np.array([0.4, 0.9])
    >>> doubtful_score(first, first) > doubtful_score(second, first)
    True
    """
    log_likelihoods = np.log(likelihoods)
    difference = log_likelihoods - np.log(first)
    return float(log_likelihoods.mean() - 2 * difference.std() / math.sqrt(len(difference)))


def best_of_each_module(
    evaluator: CandidateEvaluator[ImageLearner],
) -> list[EvaluatedCandidate[ImageLearner]]:
    """Return the best candidate of each module; see `best_candidates`."""
    best: dict[str, EvaluatedCandidate[ImageLearner]] = {}
    for candidate in best_candidates(evaluator):
        best.setdefault(candidate.learner.module, candidate)
    return list(best.values())
