"""Estimate the parameters of mechanisms from out-of-fold predictions: no row is predicted by a model that was trained on it."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.estimators.auto._class_dependence import exclusion_matrix_given_predictions, scar_from_priors
from scarce.estimators.auto._mechanisms import (
    AnswersWithErrors,
    CandidateSets,
    ClassConditional,
    Scar,
    given_answers,
)
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import YES
from scarce.priors import candidate_shares

OutOfFold = Callable[[Tensor], NDArray[np.float64]]
"""A function from log-likelihoods E (n, q) to out-of-fold class probabilities (n, q) of models trained with E."""

_ANSWER_ROUNDS, _MATRIX_ROUNDS = 4, 2
_CANDIDATE_WEIGHT = 0.1  # weight of the candidate shares in the priors
_INITIAL_ERROR_RATE = 0.1
_ERROR_RATE_RANGE = 0.002, 0.45
_PRIOR_RIGHT_ANSWERS = 20.0  # pseudo-answers without errors, added to those of all annotators
_PRIOR_ANSWERS = 20.0  # pseudo-answers at the mean rate, added to those of each annotator


def estimate_scar(
    labels: ComplementaryLabels, out_of_fold: OutOfFold, first: NDArray[np.float64]
) -> tuple[Scar, Tensor]:
    """Estimate the SCAR mechanism and the priors, in two steps.

    The mean posterior under candidate sets gives initial priors, and these a SCAR mechanism; the mean posterior under this
    mechanism gives the final priors. The candidate shares are mixed in with weight 0.1, so that no class vanishes. With more
    steps the priors would drift: a larger prior means a larger c, and so a larger posterior in every row that does not exclude
    the class.

    Parameters
    ----------
    labels : ComplementaryLabels
        The labels of n examples.
    out_of_fold : callable
        Out-of-fold predictions of the first learner; see `OutOfFold`.
    first : array of shape (n, q)
        Its predictions under candidate sets.

    Returns
    -------
    scar : Scar
        The mechanism with the final priors.
    priors : Tensor of shape (q,)
        π.
    """
    log_likelihood = CandidateSets().log_likelihood(labels)
    scar = scar_from_priors(labels, mean_posterior(labels, first, log_likelihood))
    log_likelihood = scar.log_likelihood(labels)
    priors = mean_posterior(labels, out_of_fold(log_likelihood), log_likelihood)
    return scar_from_priors(labels, priors), priors


def mean_posterior(
    labels: ComplementaryLabels, probabilities: NDArray[np.float64], log_likelihood: Tensor
) -> Tensor:
    """Return priors (q,): 0.9 times the mean posterior plus 0.1 times the candidate shares."""
    known = class_posteriors(probabilities, log_likelihood).mean(dim=0)
    return (1 - _CANDIDATE_WEIGHT) * known + _CANDIDATE_WEIGHT * torch.from_numpy(candidate_shares(labels))


def estimate_class_conditional(
    labels: ComplementaryLabels, scar: Scar, out_of_fold: OutOfFold
) -> ClassConditional:
    """Estimate class-conditional exclusions in two rounds: predictions give C, and models trained under C the next predictions.

    The first predictions are those under candidate sets. See
    `scarce.estimators.auto._class_dependence.exclusion_matrix_given_predictions`.
    """
    mechanism: CandidateSets | ClassConditional = CandidateSets()
    for _ in range(_MATRIX_ROUNDS):
        p = torch.from_numpy(out_of_fold(mechanism.log_likelihood(labels)))
        mechanism = ClassConditional(exclusion_matrix_given_predictions(labels, p, scar), scar.single)
    assert isinstance(mechanism, ClassConditional)
    return mechanism


def estimate_answers(labels: ComplementaryLabels, out_of_fold: OutOfFold) -> tuple[AnswersWithErrors, Tensor]:
    """Estimate the error rates of annotators and the priors in four rounds: predictions give rates, and rates predictions.

    The mean rate of all annotators is (expected wrong answers + 1) / (answers + 20), which shrinks it towards zero. The rate of
    each annotator is shrunk towards the mean rate by 20 pseudo-answers.
    """
    table = given_answers(labels)
    annotators, who = np.unique(table.annotator, return_inverse=True)
    rows, asked = torch.from_numpy(table.example.copy()), torch.from_numpy(table.class_index.astype(np.int64))
    yes = torch.from_numpy(table.answer == YES).double()
    first = torch.full((len(annotators),), _INITIAL_ERROR_RATE, dtype=torch.float64)
    mechanism = AnswersWithErrors(annotators, first, first)
    known = torch.zeros(labels.shape)
    for _ in range(_ANSWER_ROUNDS):
        log_likelihood = mechanism.log_likelihood(labels)
        known = class_posteriors(out_of_fold(log_likelihood), log_likelihood)
        is_class = known[rows, asked]
        mechanism = AnswersWithErrors(
            annotators,
            _error_rates(is_class * (1 - yes), is_class, torch.from_numpy(who), len(annotators)),
            _error_rates((1 - is_class) * yes, 1 - is_class, torch.from_numpy(who), len(annotators)),
        )
    return mechanism, known.mean(dim=0)


def class_posteriors(probabilities: NDArray[np.float64], log_likelihood: Tensor) -> Tensor:
    """p_y e^{E_y} / Σ_j p_j e^{E_j} of every row, of shape (n, q).

    Examples
    --------
    >>> class_posteriors(np.array([[0.5, 0.5]]), torch.tensor([[0.0, 0.6931]])).round(decimals=3).tolist()
    [[0.333, 0.667]]
    """
    return torch.softmax(torch.from_numpy(np.log(np.maximum(probabilities, 1e-12))) + log_likelihood, dim=1)


def _error_rates(wrong: Tensor, asked: Tensor, who: Tensor, n: int) -> Tensor:
    mean_rate = (wrong.sum() + 1) / (asked.sum() + _PRIOR_RIGHT_ANSWERS)
    annotator_wrong, annotator_asked = (
        torch.zeros(n, dtype=torch.float64).index_add(0, who, x) for x in (wrong, asked)
    )
    return ((annotator_wrong + _PRIOR_ANSWERS * mean_rate) / (annotator_asked + _PRIOR_ANSWERS)).clamp(
        *_ERROR_RATE_RANGE
    )
