"""The parameters of mechanisms, from out-of-fold predictions: no row is judged by a model that has seen its label."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.estimators.auto.class_dependence import chances_given_predictions, scar_of_priors
from scarce.estimators.auto.mechanisms import (
    AnswersWithErrors,
    CandidateSets,
    ClassConditional,
    Scar,
    given_answers,
)
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import YES
from scarce.priors import candidate_shares

__all__ = [
    "OutOfFold",
    "estimate_answers",
    "estimate_class_conditional",
    "estimate_scar",
    "mean_posterior",
]

OutOfFold = Callable[[Tensor], NDArray[np.float64]]
"""From evidence E (n × q) to class probabilities (n × q) of models that were fitted to E of the other folds."""

_ANSWER_ROUNDS, _COUNT_ROUNDS = 4, 2
_SHARE = 0.1  # of the candidate shares in the priors
_FIRST_RATE = 0.1
_RATE_RANGE = 0.002, 0.45
_TOWARDS_ZERO = 20.0  # right answers that are added to those of all annotators
_TOWARDS_ALL = 20.0  # answers that the rate of all annotators counts for in the rate of one


def estimate_scar(
    labels: ComplementaryLabels, out_of_fold: OutOfFold, first: NDArray[np.float64]
) -> tuple[Scar, Tensor]:
    """Return the SCAR mechanism and priors, in two steps.

    The mean posterior of candidate sets gives first priors, these a SCAR mechanism, and its mean posterior the priors.
    A tenth of the candidate shares is mixed in, so that no class vanishes. Further steps would drift: a class of larger
    prior has a larger c, and so gets more of every row that does not exclude it.

    Parameters
    ----------
    labels : ComplementaryLabels
        What is known.
    out_of_fold : callable
        Predictions of the first learner.
    first : array of shape (n, q)
        Those under the mechanism of candidate sets.
    """
    evidence = CandidateSets().log_likelihood(labels)
    scar = scar_of_priors(labels, mean_posterior(labels, first, evidence))
    evidence = scar.log_likelihood(labels)
    priors = mean_posterior(labels, out_of_fold(evidence), evidence)
    return scar_of_priors(labels, priors), priors


def mean_posterior(
    labels: ComplementaryLabels, probabilities: NDArray[np.float64], evidence: Tensor
) -> Tensor:
    """Return priors: nine parts of the mean posterior, and one of the candidate shares."""
    known = posteriors(probabilities, evidence).mean(dim=0)
    return (1 - _SHARE) * known + _SHARE * torch.from_numpy(candidate_shares(labels))


def estimate_class_conditional(
    labels: ComplementaryLabels, scar: Scar, out_of_fold: OutOfFold
) -> ClassConditional:
    """Return C, in rounds that begin with candidate sets: predictions give C, and C the next predictions.

    See `scarce.estimators.auto.class_dependence.chances_given_predictions`.
    """
    mechanism: CandidateSets | ClassConditional = CandidateSets()
    for _ in range(_COUNT_ROUNDS):
        p = torch.from_numpy(out_of_fold(mechanism.log_likelihood(labels)))
        mechanism = ClassConditional(chances_given_predictions(labels, p, scar), scar.single)
    assert isinstance(mechanism, ClassConditional)
    return mechanism


def estimate_answers(labels: ComplementaryLabels, out_of_fold: OutOfFold) -> tuple[AnswersWithErrors, Tensor]:
    """Return error rates of annotators, and priors: in four rounds, a rate becomes (expected wrong + …) / (asked + …).

    That of all annotators is drawn towards zero, (wrong + 1) / (asked + 20), and that of one annotator towards that of all.
    """
    table = given_answers(labels)
    annotators, who = np.unique(table.annotator, return_inverse=True)
    rows, asked = torch.from_numpy(table.example.copy()), torch.from_numpy(table.class_index.astype(np.int64))
    yes = torch.from_numpy(table.answer == YES).double()
    first = torch.full((len(annotators),), _FIRST_RATE, dtype=torch.float64)
    mechanism = AnswersWithErrors(annotators, first, first)
    known = torch.zeros(labels.shape)
    for _ in range(_ANSWER_ROUNDS):
        evidence = mechanism.log_likelihood(labels)
        known = posteriors(out_of_fold(evidence), evidence)
        is_it = known[rows, asked]
        mechanism = AnswersWithErrors(
            annotators,
            _rates(is_it * (1 - yes), is_it, torch.from_numpy(who), len(annotators)),
            _rates((1 - is_it) * yes, 1 - is_it, torch.from_numpy(who), len(annotators)),
        )
    return mechanism, known.mean(dim=0)


def posteriors(probabilities: NDArray[np.float64], evidence: Tensor) -> Tensor:
    """Return p_y e^{E_y} / Σ_j p_j e^{E_j}.

    Examples
    --------
    >>> posteriors(np.array([[0.5, 0.5]]), torch.tensor([[0.0, 0.6931]])).round(decimals=3).tolist()
    [[0.333, 0.667]]
    """
    return torch.softmax(torch.from_numpy(np.log(np.maximum(probabilities, 1e-12))) + evidence, dim=1)


def _rates(wrong: Tensor, asked: Tensor, who: Tensor, n: int) -> Tensor:
    of_all = (wrong.sum() + 1) / (asked.sum() + _TOWARDS_ZERO)
    own_wrong, own_asked = (torch.zeros(n, dtype=torch.float64).index_add(0, who, x) for x in (wrong, asked))
    return ((own_wrong + _TOWARDS_ALL * of_all) / (own_asked + _TOWARDS_ALL)).clamp(*_RATE_RANGE)
