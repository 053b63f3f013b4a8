"""Whether and how exclusions depend on the true class: nested mechanisms, compared by the likelihood of held-out labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.estimators.auto._mechanisms import Scar, confirmed_tensor, excluded_tensor
from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.methods._labeling import labeled_rates
from scarce.risk import (
    clamp_confirmed,
    class_conditional_log_likelihood,
    exclusion_probabilities,
    single_label_log_likelihood,
    single_label_weights,
)

_MAX_EXCLUSION_PROBABILITY = 0.98
_SCAR_STRENGTH = 20.0  # pseudo-rows of every class, with the exclusion probabilities of SCAR
_EM_STEPS = 15
_MIN_PROBABILITY = 1e-4  # of a class by the predictions
_MIN_GAIN = 3.0  # in log-likelihood to accept a richer mechanism: odds of twenty to one


@dataclass(frozen=True)
class Gains:
    """Gains of richer mechanisms in the log-likelihood of held-out labels, summed over all rows.

    Attributes
    ----------
    scar : float or None
        Gain of SCAR over uniform labels; None unless every example has one label by design.
    class_conditional : float
        Gain of class-conditional exclusions over SCAR.
    """

    scar: float | None
    class_conditional: float

    @property
    def depends_on_class(self) -> bool:
        """Whether exclusions clearly depend on the true class."""
        return self.class_conditional > _MIN_GAIN

    @property
    def is_uniform(self) -> bool:
        """Whether single labels look like uniform draws."""
        return not self.depends_on_class and self.scar is not None and self.scar <= _MIN_GAIN


def scar_from_priors(labels: ComplementaryLabels, priors: Tensor) -> Scar:
    """Return the SCAR mechanism that, with these priors (q,), reproduces the rates of the labels.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[0], [0, 1], [], [1]], classes=3)
    >>> scar_from_priors(labels, torch.tensor([0.0, 0.5, 0.5])).exclusion_probabilities.tolist()
    [0.5, 0.98, 0.0]
    """
    single = is_single_label(labels)
    rates, none = labeled_rates(labels, single), torch.zeros(labels.n_classes, dtype=torch.float64)
    if single:
        return Scar(single_label_weights(rates, priors, none), single)
    return Scar(exclusion_probabilities(rates, priors, none).clamp(max=_MAX_EXCLUSION_PROBABILITY), single)


def scar_matrix(scar: Scar) -> Tensor:
    """C[y, k] = c_k off the diagonal, or w_k / (1 − w_y) with one label per row: the exclusion matrix (q, q) of SCAR.

    Examples
    --------
    >>> scar_matrix(Scar(torch.tensor([0.2, 0.3, 0.5]), single=True))[0].tolist()
    [0.0, 0.375, 0.625]
    """
    q = len(scar.exclusion_probabilities)
    C = scar.exclusion_probabilities.expand(q, q) * (
        1 - torch.eye(q, dtype=scar.exclusion_probabilities.dtype)
    )
    return C / C.sum(dim=1, keepdim=True).clamp(min=1e-12) if scar.single else C


def exclusion_matrix_given_predictions(
    labels: ComplementaryLabels, probabilities: Tensor, scar: Scar, strength: float = _SCAR_STRENGTH
) -> Tensor:
    """Maximize Σ_i log Σ_y p_iy P(labels of i | C[y]) over the exclusion matrix C, with p fixed, by EM steps from SCAR.

    With p fixed, the problem is concave. A step is C[y, k] ← (Σ_i t_iy ȳ_ik + s S[y, k]) / (Σ_i t_iy + s), where t_i is the
    posterior of row i, and S is the matrix of SCAR, which counts as s pseudo-rows. With one label per row, rows of C sum to one.

    Parameters
    ----------
    labels : ComplementaryLabels
        ȳ.
    probabilities : tensor of shape (n, q)
        p, predicted by models that were not trained on these labels.
    scar : Scar
        The mechanism that C is shrunk towards.
    strength : float
        s, the strength of this shrinkage.

    Returns
    -------
    Tensor of shape (q, q)
        C[y, k], the probability that a row of class y excludes k.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([1] * 90 + [2] * 10 + [0, 2] * 50, classes=3)
    >>> p = torch.eye(3, dtype=torch.float64)[[0] * 100 + [1] * 100]
    >>> scar = Scar(torch.full((3,), 1 / 3, dtype=torch.float64), single=True)
    >>> exclusion_matrix_given_predictions(labels, p, scar, strength=0.0).round(decimals=2)[:2].tolist()
    [[0.0, 0.9, 0.1], [0.5, 0.0, 0.5]]
    """
    q = labels.n_classes
    S, wrong = scar_matrix(scar), 1 - torch.eye(q, dtype=torch.float64)
    excluded = excluded_tensor(labels)
    labeled = _was_labeled(labels, scar.single)
    log_p = clamp_confirmed(
        probabilities.double().clamp(min=_MIN_PROBABILITY).log(), confirmed_tensor(labels)
    )[labeled]
    excluded = excluded[labeled]
    C = S
    for _ in range(_EM_STEPS):
        posterior = torch.softmax(log_p + _log_likelihoods(excluded, C, scar.single), dim=1)
        C = (posterior.T @ excluded + strength * S) * wrong
        size = C.sum(dim=1) if scar.single else posterior.sum(dim=0) + strength
        C = torch.where(size[:, None] > 0, C / size.clamp(min=1e-12)[:, None], S)
    return C if scar.single else C.clamp(max=_MAX_EXCLUSION_PROBABILITY)


def compare_mechanisms(
    labels: ComplementaryLabels, probabilities: Tensor, folds: Sequence[NDArray[np.int64]]
) -> Gains:
    """Return the gains of SCAR over uniform labels, and of class-conditional exclusions over SCAR, by cross-validation.

    Given the predictions, each mechanism is estimated from all folds but one, and scored by Σ_i log Σ_y p_iy P(labels of i | y)
    on the held-out fold. Superfluous parameters lower the score.

    Parameters
    ----------
    labels : ComplementaryLabels
        The labels of n rows.
    probabilities : tensor of shape (n, q)
        p, predicted by models that were not trained on the labels of the row.
    folds : sequence of arrays of int
        The row indices of each fold.

    Examples
    --------
    >>> from scarce.simulate import from_transition, uniform
    >>> y = np.repeat([0, 1, 2], 100)
    >>> p, folds = torch.eye(3)[torch.from_numpy(y)] * 0.7 + 0.1, [np.arange(start, 300, 4) for start in range(4)]
    >>> compare_mechanisms(uniform(y, seed=0), p, folds).is_uniform
    True
    >>> cyclic = from_transition(y, [[0, 0.9, 0.1], [0.1, 0, 0.9], [0.9, 0.1, 0]], seed=0)
    >>> compare_mechanisms(cyclic, p, folds).depends_on_class
    True
    """
    single = is_single_label(labels)
    p = probabilities.double().clamp(min=_MIN_PROBABILITY)
    p = p / p.sum(dim=1, keepdim=True)
    uniform = Scar(torch.full((labels.n_classes,), 1 / labels.n_classes, dtype=torch.float64), True)
    scar_gain = class_conditional_gain = 0.0
    all_rows = np.arange(len(labels))
    for fold in folds:
        training = np.setdiff1d(all_rows, fold)
        scar = scar_from_priors(labels[training], p[training].mean(dim=0))
        if scar.single != single:
            continue  # too few labels in the other folds
        C = exclusion_matrix_given_predictions(labels[training], p[training], scar)
        known, held_out = labels[fold], p[fold]
        scar_log_likelihood = _log_likelihood(known, held_out, scar_matrix(scar), single)
        class_conditional_gain += _log_likelihood(known, held_out, C, single) - scar_log_likelihood
        if single:
            scar_gain += scar_log_likelihood - _log_likelihood(known, held_out, scar_matrix(uniform), single)
    return Gains(scar_gain if single else None, class_conditional_gain)


def _log_likelihood(labels: ComplementaryLabels, p: Tensor, C: Tensor, single: bool) -> float:
    """Σ_i log Σ_y p_iy P(labels of i | y), over the rows that are informative about the mechanism."""
    excluded = excluded_tensor(labels)
    log_p = clamp_confirmed(p.log(), confirmed_tensor(labels))
    row_log_likelihoods = torch.logsumexp(log_p + _log_likelihoods(excluded, C, single), dim=1)
    return float(row_log_likelihoods[_was_labeled(labels, single)].sum())


def _log_likelihoods(excluded: Tensor, C: Tensor, single: bool) -> Tensor:
    return (single_label_log_likelihood if single else class_conditional_log_likelihood)(excluded, C)


def _was_labeled(labels: ComplementaryLabels, single: bool) -> Tensor:
    return torch.from_numpy((labels.per_example > 0) | ((labels.confirmed < 0) & (not single)))
