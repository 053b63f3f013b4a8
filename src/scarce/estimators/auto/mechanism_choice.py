"""Which mechanisms the labels may have come from, and which of them is the criterion for all candidates."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import LabelError, MethodError
from scarce.estimators.auto.class_dependence import Gains, compare_mechanisms, scar_from_priors
from scarce.estimators.auto.mechanism_parameters import (
    OutOfFold,
    estimate_answers,
    estimate_class_conditional,
    estimate_scar,
    mean_posterior,
)
from scarce.estimators.auto.mechanisms import CandidateSets, Mechanism, Scar, given_answers
from scarce.labels import ComplementaryLabels
from scarce.metrics import CoExclusion, co_exclusion_test
from scarce.priors import candidate_shares

__all__ = ["MECHANISMS", "MechanismChoice", "check_informative", "choose_mechanisms"]

MECHANISMS = ("candidate-sets", "scar", "class-conditional", "answers")


@dataclass(frozen=True)
class MechanismChoice:
    """The mechanisms of the grid, the criterion, the result of the gate, the priors, and the reason."""

    mechanisms: tuple[Mechanism, ...]
    criterion: Mechanism
    gate: CoExclusion | None
    priors: Tensor
    reason: str


def check_informative(labels: ComplementaryLabels) -> None:
    """Raise `LabelError` if no example has a label.

    Examples
    --------
    >>> check_informative(ComplementaryLabels.from_lists([[], []], classes=3))
    Traceback (most recent call last):
    scarce.errors.LabelError: the labels of all 2 examples are empty; expected some excluded classes, answers or ...
    """
    if not len(labels.indices) and not (labels.confirmed >= 0).any() and not len(given_answers(labels)):
        raise LabelError(
            f"the labels of all {len(labels)} examples are empty; expected some excluded classes, answers or confirmed "
            "classes. Check that ids and class names of the label file match."
        )


def choose_mechanisms(
    labels: ComplementaryLabels,
    out_of_fold: OutOfFold,
    several_out_of_fold: OutOfFold,
    folds: Sequence[NDArray[np.int64]],
    names: Collection[str] | None = None,
    priors: Tensor | None = None,
) -> MechanismChoice:
    """Estimate the mechanisms that the labels allow and choose the criterion.

    Recorded answers: candidate sets and answers with error rates; the latter are the criterion. Otherwise, if some example has
    several labels, `co_exclusion_test` decides whether they are candidate sets. If not, uniform labels, SCAR and
    class-conditional exclusions are compared by the likelihood of held-out labels (`compare_mechanisms`), and the best is the
    criterion. Two are tried: the best and candidate sets, which are the same as uniform single labels. Class-conditional
    exclusions are tried beside these: their parameters let a model that predicts one class too often correct itself.

    Parameters
    ----------
    labels : ComplementaryLabels
        What is known.
    out_of_fold : callable
        Predictions of the first learner.
    several_out_of_fold : callable
        The mean of those of several learners, for counting C.
    folds : sequence of arrays
        The rows of each fold.
    names : collection of str, optional
        The mechanisms to consider; by default all that the labels allow.
    priors : tensor of q numbers, optional
        π, if it is known; by default it is estimated.
    """
    for name in names or ():
        check_option("mechanism", name, MECHANISMS)

    def is_wanted(name: str) -> bool:
        return names is None or name in names

    sets = CandidateSets()
    chosen: list[Mechanism]
    if len(given_answers(labels)) and is_wanted("answers"):
        answers, learned = estimate_answers(labels, out_of_fold)
        chosen = [sets, answers] if is_wanted("candidate-sets") else [answers]
        return MechanismChoice(
            tuple(chosen), answers, None, learned, "the labels record which questions were asked"
        )
    if names is not None and set(names) == {"answers"}:
        raise MethodError(
            "mechanisms=['answers'] needs recorded answers, which these labels do not have; make them with "
            "ComplementaryLabels.from_answers, or choose another mechanism."
        )
    shares = torch.from_numpy(candidate_shares(labels))
    if not len(labels.indices):
        return MechanismChoice((sets,), sets, None, shares, "only true classes are known")
    if names is not None and not {"scar", "class-conditional"} & set(names):
        return MechanismChoice((sets,), sets, None, shares, "candidate sets were asked for")
    log_likelihood = sets.log_likelihood(labels)
    first = out_of_fold(log_likelihood)
    if priors is None:
        scar, priors = estimate_scar(labels, out_of_fold, first)
    else:
        scar = scar_from_priors(labels, priors)
    gate = None if scar.single or labels.per_example.max() < 2 else co_exclusion_test(labels, priors)
    if names is None and gate is not None and gate.rejects_scar:
        reason = f"classes are excluded together in a way that contradicts SCAR (Z = {gate.statistic:.1f})"
        return MechanismChoice((sets,), sets, gate, mean_posterior(labels, first, log_likelihood), reason)
    gains = compare_mechanisms(labels, torch.from_numpy(first), folds)
    if gains.is_uniform:
        best, priors = "candidate-sets", mean_posterior(labels, first, log_likelihood)
    else:
        best = "class-conditional" if gains.depends_on_class else "scar"
    tried = names or ("candidate-sets", "scar" if best == "scar" else "class-conditional")
    chosen = [mechanism for mechanism in (sets, scar) if mechanism.name in tried]
    if "class-conditional" in tried:
        chosen.append(estimate_class_conditional(labels, scar, several_out_of_fold))
    criterion = next((mechanism for mechanism in chosen if mechanism.name == best), chosen[-1])
    return MechanismChoice(tuple(chosen), criterion, gate, priors, _reason(scar, gains, gate))


def _reason(scar: Scar, gains: Gains, gate: CoExclusion | None) -> str:
    n_labels = "every example has one label" if scar.single else "exclusions do not co-occur"
    if gains.depends_on_class:
        return f"{n_labels}, and which classes are excluded depends on the true class"
    if gains.is_uniform:
        return f"{n_labels}, and labels look uniform"
    if scar.single:
        return f"{n_labels}, and some classes are excluded more often than others"
    return "exclusions agree with SCAR" + (f" (Z = {gate.statistic:.1f})" if gate else "")
