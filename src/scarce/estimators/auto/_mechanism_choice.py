"""Choose the mechanisms to train under, and the criterion: the mechanism that all candidates are scored under."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import LabelError, MethodError
from scarce.estimators.auto._class_dependence import Gains, compare_mechanisms, scar_from_priors
from scarce.estimators.auto._mechanism_parameters import (
    OutOfFold,
    estimate_answers,
    estimate_class_conditional,
    estimate_scar,
    mean_posterior,
)
from scarce.estimators.auto._mechanisms import CandidateSets, Mechanism, Scar, given_answers
from scarce.labels import ComplementaryLabels
from scarce.metrics import CoExclusion, co_exclusion_test
from scarce.priors import candidate_shares

MECHANISMS = ("candidate-sets", "scar", "class-conditional", "answers")


@dataclass(frozen=True)
class MechanismChoice:
    """The mechanisms to train under, the criterion, the test of SCAR (gate), the priors of shape (q,), and the reason."""

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
            "classes: check that the ids and class names of the label file match those of the features."
        )


def choose_mechanisms(
    labels: ComplementaryLabels,
    out_of_fold: OutOfFold,
    several_out_of_fold: OutOfFold,
    folds: Sequence[NDArray[np.int64]],
    names: Collection[str] | None = None,
    priors: Tensor | None = None,
) -> MechanismChoice:
    """Estimate the mechanisms that suit the labels and choose the criterion.

    If answers are recorded, the mechanisms are candidate sets and answers with error rates, and the latter is the criterion.

    Otherwise, if some example has several labels, `co_exclusion_test` tests SCAR. If it rejects SCAR, the only mechanism is
    candidate sets. If not, uniform labels, SCAR and class-conditional exclusions are compared by the likelihood of held-out
    labels (`compare_mechanisms`). The best of them is the criterion, and the mechanisms are the criterion and candidate sets,
    which for one label per example are equivalent to uniform labels. If uniform labels are best, class-conditional exclusions
    are added: their parameters allow a model that predicts one class too often to correct itself.

    Parameters
    ----------
    labels : ComplementaryLabels
        The labels of n examples.
    out_of_fold : callable
        Out-of-fold predictions of the first learner; see `OutOfFold`.
    several_out_of_fold : callable
        The mean out-of-fold predictions of several learners, to estimate C from.
    folds : sequence of arrays of int
        The row indices of each fold.
    names : collection of str, optional
        The mechanisms to consider; by default all that suit the labels.
    priors : tensor of shape (q,), optional
        π, if known; by default it is estimated.

    Returns
    -------
    MechanismChoice
        The mechanisms with their parameters, and the criterion.
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
        return MechanismChoice(
            (sets,), sets, None, shares, "the mechanisms were restricted to candidate-sets"
        )
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
    if names is not None:
        reason = f"the mechanisms were restricted to {' and '.join(mechanism.name for mechanism in chosen)}"
    else:
        reason = _reason(scar, gains, gate)
    return MechanismChoice(tuple(chosen), criterion, gate, priors, reason)


def _reason(scar: Scar, gains: Gains, gate: CoExclusion | None) -> str:
    if gains.depends_on_class:
        return "which classes are excluded depends on the true class"
    if gains.is_uniform:
        return "every example has one label, and the labels look uniform"
    if scar.single:
        return "every example has one label, and some classes are excluded more often than others"
    return "exclusions agree with SCAR" + (f" (Z = {gate.statistic:.1f})" if gate else "")
