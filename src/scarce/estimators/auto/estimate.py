"""The parameters of mechanisms, from out-of-fold predictions: no row is judged by a model that has seen its label."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import Tensor
from torch.nn.functional import one_hot

from scarce.estimators.auto.mechanisms import (
    AnswersWithErrors,
    CandidateSets,
    ClassConditional,
    Scar,
    given_answers,
)
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import YES
from scarce.methods.marks import come_singly, marked_rates
from scarce.priors import candidate_shares
from scarce.risk import exclusion_chances, implied_chances, one_mark_transition, one_mark_weights

__all__ = [
    "OutOfFold",
    "estimate_answers",
    "estimate_class_conditional",
    "estimate_scar",
    "has_uniform_rates",
    "scar_of_priors",
]

OutOfFold = Callable[[Tensor], NDArray[np.float64]]
"""From evidence E (n × q) to class probabilities (n × q) of models that were fitted to E of the other folds."""

_LARGEST = 0.98  # of a probability of exclusion
_ANSWER_ROUNDS, _COUNT_ROUNDS = 4, 3
_SIGNIFICANCE, _LARGE = 1e-4, 0.01  # how far rates may be from those of uniform labels
_SHARE = 0.1  # of the candidate shares in the priors
_FIRST_RATE = 0.1
_RATE_RANGE = 0.002, 0.45
_TOWARDS_ZERO = 20.0  # right answers that are added to those of all annotators
_TOWARDS_ALL = 20.0  # answers that the rate of all annotators counts for in the rate of one


def scar_of_priors(labels: ComplementaryLabels, priors: Tensor) -> Scar:
    """Return the SCAR mechanism that gives the rates of the labels with these priors.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[0], [0, 1], [], [1]], classes=3)
    >>> scar_of_priors(labels, torch.tensor([0.0, 0.5, 0.5])).chances.tolist()
    [0.5, 0.98, 0.0]
    """
    single = come_singly(labels)
    rates, none = marked_rates(labels, single), torch.zeros(labels.n_classes, dtype=torch.float64)
    if single:
        return Scar(one_mark_weights(rates, priors, none), single)
    return Scar(exclusion_chances(rates, priors, none).clamp(max=_LARGEST), single)


def estimate_scar(labels: ComplementaryLabels, out_of_fold: OutOfFold) -> tuple[Scar, Tensor]:
    """Return the SCAR mechanism and priors, in two steps.

    The mean posterior of candidate sets gives first priors, these a SCAR mechanism, and its mean posterior the priors.
    A tenth of the candidate shares is mixed in, so that no class vanishes. Further steps would drift: a class of larger
    prior has a larger c, and so gets more of every row that does not exclude it. Single labels whose rates uniform
    labels would have (`has_uniform_rates`) are uniform: one step, and equal c.
    """
    shares = torch.from_numpy(candidate_shares(labels))

    def mean_posterior(mechanism: CandidateSets | Scar) -> Tensor:
        evidence = mechanism.log_likelihood(labels)
        known = posteriors(out_of_fold(evidence), evidence)
        return (1 - _SHARE) * known.mean(dim=0) + _SHARE * shares

    priors = mean_posterior(CandidateSets())
    if come_singly(labels) and has_uniform_rates(labels, priors):
        return Scar(torch.full_like(priors, 1 / len(priors)), single=True), priors
    priors = mean_posterior(scar_of_priors(labels, priors))
    return scar_of_priors(labels, priors), priors


def has_uniform_rates(labels: ComplementaryLabels, priors: Tensor) -> bool:
    """Return whether single labels, drawn uniformly from the wrong classes, would have the rates of these.

    The rates would be e_k = (1 − π_k) / (q − 1). They are not uniform if Pearson's χ² = n Σ (π̄_k − e_k)² / e_k is
    significant at 10⁻⁴ with q − 1 degrees of freedom, and exceeds its mean q − 1 by n / 100: priors are estimates.

    Examples
    --------
    >>> thirds = torch.full((3,), 1 / 3, dtype=torch.float64)
    >>> has_uniform_rates(ComplementaryLabels.from_single([0, 1, 2] * 100, classes=3), thirds)
    True
    >>> has_uniform_rates(ComplementaryLabels.from_single([0, 1, 1] * 100, classes=3), thirds)
    False
    """
    n, q = int((labels.per_example > 0).sum()), labels.n_classes
    expected = ((1 - priors) / (q - 1)).clamp(min=1e-12)
    statistic = n * float(((marked_rates(labels, True) - expected) ** 2 / expected).sum())
    return statistic <= max(float(chi2.isf(_SIGNIFICANCE, q - 1)), q - 1 + _LARGE * n)


def estimate_class_conditional(
    labels: ComplementaryLabels, scar: Scar, out_of_fold: OutOfFold
) -> ClassConditional:
    """Return C, counted in rounds over the arg-max of out-of-fold predictions; see `scarce.risk.implied_chances`."""
    mechanism: Scar | ClassConditional = scar
    excluded = torch.from_numpy(labels.indicator(dtype=np.float64))
    marked = torch.from_numpy((labels.per_example > 0) | ((labels.confirmed < 0) & (not scar.single)))
    confirmed = torch.from_numpy(labels.confirmed.astype(np.int64))
    q = labels.n_classes
    for _ in range(_COUNT_ROUNDS):
        p = torch.from_numpy(out_of_fold(mechanism.log_likelihood(labels)))
        names = torch.where(confirmed >= 0, confirmed, p.argmax(dim=1))
        members = one_hot(names, q).double()[marked]
        counts, named = members.T @ excluded[marked], members.sum(dim=0)
        belief = torch.where((confirmed >= 0)[:, None], one_hot(names, q).double(), p)[marked]
        chances = implied_chances(counts, named, members.T @ belief, None, 0.0)
        chances = one_mark_transition(chances) if scar.single else chances.clamp(max=_LARGEST)
        mechanism = ClassConditional(chances, scar.single)
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
