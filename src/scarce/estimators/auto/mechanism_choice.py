"""Which mechanisms the labels may have come from, and which of them judges all candidates."""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from scarce.errors import LabelError, MethodError
from scarce.estimators.auto.estimate import (
    OutOfFold,
    estimate_answers,
    estimate_class_conditional,
    estimate_scar,
    scar_of_priors,
)
from scarce.estimators.auto.mechanisms import CandidateSets, Mechanism, Scar, given_answers
from scarce.labels import ComplementaryLabels
from scarce.metrics import CoExclusion, co_exclusion_test
from scarce.priors import candidate_shares

__all__ = ["MECHANISMS", "MechanismChoice", "check_informative", "choose_mechanisms"]

MECHANISMS = ("candidate-sets", "scar", "class-conditional", "answers")


@dataclass(frozen=True)
class MechanismChoice:
    """The mechanisms of the grid, the one that judges, what the gate found, priors, and why."""

    mechanisms: tuple[Mechanism, ...]
    criterion: Mechanism
    gate: CoExclusion | None
    priors: Tensor
    reason: str


def check_informative(labels: ComplementaryLabels) -> None:
    """Raise `LabelError` if the labels say nothing about any example.

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
    names: Collection[str] | None = None,
    priors: Tensor | None = None,
) -> MechanismChoice:
    """Estimate the mechanisms that the labels allow and choose the criterion.

    Recorded answers: candidate sets and answers with error rates; the latter judge. Otherwise SCAR is estimated. If some
    example has several labels, `co_exclusion_test` decides: where it rejects SCAR, the labels are candidate sets.
    Otherwise candidate sets, SCAR and class-conditional exclusions are tried, and SCAR judges. Of single labels that are
    uniform (`scarce.estimators.auto.estimate.has_uniform_rates`), candidate sets and SCAR are the same.

    Parameters
    ----------
    labels : ComplementaryLabels
        What is known.
    out_of_fold : callable
        Predictions of the first learner.
    several_out_of_fold : callable
        The mean of those of several learners, for counting C.
    names : collection of str, optional
        The mechanisms to consider; by default all that the labels allow.
    priors : tensor of q numbers, optional
        π, if it is known; by default it is estimated.
    """
    if unknown := sorted(set(names or ()) - set(MECHANISMS)):
        raise MethodError(f"mechanism {unknown[0]!r} is unknown; expected some of {', '.join(MECHANISMS)}.")

    def wanted(name: str) -> bool:
        return names is None or name in names

    sets = CandidateSets()
    chosen: list[Mechanism]
    if len(given_answers(labels)) and wanted("answers"):
        answers, found = estimate_answers(labels, out_of_fold)
        chosen = [sets, answers] if wanted("candidate-sets") else [answers]
        return MechanismChoice(
            tuple(chosen), answers, None, found, "it is recorded which questions were asked"
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
    scar, priors = (
        estimate_scar(labels, out_of_fold) if priors is None else (scar_of_priors(labels, priors), priors)
    )
    gate = None if scar.single or labels.per_example.max() < 2 else co_exclusion_test(labels, priors)
    if names is None and gate is not None and gate.rejects_scar:
        why = f"classes are excluded together as SCAR would not have it (Z = {gate.statistic:.1f})"
        evidence = sets.log_likelihood(labels)
        p = torch.from_numpy(out_of_fold(evidence))
        known = torch.softmax(p.clamp(min=1e-12).log() + evidence, dim=1)
        return MechanismChoice((sets,), sets, gate, known.mean(dim=0), why)
    uniform = scar.single and bool((scar.chances == scar.chances[0]).all())
    chosen = [mechanism for mechanism in (sets, scar) if wanted(mechanism.name)]
    if uniform and len(chosen) == 2:  # they are the same
        chosen = [sets]
    if wanted("class-conditional"):
        chosen.append(estimate_class_conditional(labels, scar, several_out_of_fold))
    judge = sets if uniform else scar
    criterion = chosen[0] if len(chosen) == 1 else judge
    return MechanismChoice(tuple(chosen), criterion, gate, priors, _why(scar, uniform, gate))


def _why(scar: Scar, uniform: bool, gate: CoExclusion | None) -> str:
    if uniform:
        return "every example has one label, and classes are excluded at the rates of uniform labels"
    if scar.single:
        return "every example has one label, and some classes are excluded more often than others"
    return "exclusions agree with SCAR" + (f" (Z = {gate.statistic:.1f})" if gate else "")
