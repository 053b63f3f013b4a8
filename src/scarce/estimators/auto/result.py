"""The result of fitting a stack: the model, and how it was chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.estimators.auto._candidate_evaluation import EvaluatedCandidate, mean_score
from scarce.estimators.auto._mechanism_choice import MechanismChoice
from scarce.estimators.auto._mechanisms import AnswersWithErrors, Mechanism, given_answers
from scarce.estimators.auto.choice import Candidate, Choice
from scarce.labels import ComplementaryLabels
from scarce.models import Stack

Progress = Callable[[float, str], None]

_MAX_NAMED = 3  # members of the stack in the reason


@dataclass(frozen=True, eq=False)
class StackResult:
    """A fitted stack, and how it was chosen.

    Attributes
    ----------
    model : Stack
        The stack, a torch module from raw inputs (n, ...) to log-probabilities (n, q).
    choice : Choice
        What was tried, what was chosen, and why.
    rows : int array of shape (m,)
        The sorted indices of the rows that candidates were evaluated on: all rows, or a random sample of them.
    held_out : array of shape (m, q)
        Out-of-fold class probabilities of these rows, from copies of the members that were trained without them.

    See Also
    --------
    fit_stack : Returns it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from scarce.estimators.auto import fit_stack
    >>> from scarce.simulate import uniform
    >>> X, y = load_iris(return_X_y=True)
    >>> result = fit_stack(X, uniform(y, seed=0), learners=["linear"])
    >>> bool((result.held_out.argmax(axis=1) == y[result.rows]).mean() > 0.9)
    True
    """

    model: Stack
    choice: Choice
    rows: NDArray[np.int64]
    held_out: NDArray[np.float64]


def make_choice(
    evaluated: Sequence[EvaluatedCandidate[Any]],
    finished: Sequence[EvaluatedCandidate[Any]],
    weights: NDArray[np.float64],
    chosen: MechanismChoice,
    labels: ComplementaryLabels,
) -> Choice:
    """Return the record of what was evaluated, and of the weights of the candidates that were evaluated on all folds."""
    candidates = _candidates(evaluated, finished, weights)
    return Choice(
        candidates,
        chosen.criterion.name,
        chosen.gate,
        tuple(chosen.priors.tolist()),
        _reason(candidates, chosen),
        _error_rates(chosen.criterion, labels),
    )


def _candidates(
    evaluated: Sequence[EvaluatedCandidate[Any]],
    finished: Sequence[EvaluatedCandidate[Any]],
    weights: NDArray[np.float64],
) -> tuple[Candidate, ...]:
    weight_of = {id(candidate): float(weight) for candidate, weight in zip(finished, weights, strict=True)}
    candidates = [
        Candidate(
            name=f"{candidate.learner.name}, {candidate.mechanism.name}",
            mechanism=candidate.mechanism.name,
            learner=candidate.learner.name,
            weight=weight_of.get(id(candidate), 0.0),
            score=mean_score(candidate) if id(candidate) in weight_of else None,
            seconds=candidate.seconds,
            error=candidate.error,
        )
        for candidate in evaluated
    ]
    return tuple(sorted(candidates, key=lambda c: (-c.weight, -np.inf if c.score is None else -c.score)))


def _error_rates(criterion: Mechanism, labels: ComplementaryLabels) -> tuple[float, float] | None:
    """Return the mean error rates over the recorded answers, or None if answers are not the criterion."""
    if not isinstance(criterion, AnswersWithErrors):
        return None
    who = np.searchsorted(criterion.annotators, given_answers(labels).annotator)
    rates = criterion.false_negative_rates, criterion.false_positive_rates
    false_negative, false_positive = (float(rate.numpy()[who].mean()) for rate in rates)
    return false_negative, false_positive


def _reason(candidates: Sequence[Candidate], chosen: MechanismChoice) -> str:
    members = [candidate for candidate in candidates if candidate.weight > 0]
    n_failed = sum(candidate.error is not None for candidate in candidates)
    failed = f" ({n_failed} failed)" * bool(n_failed)
    names = "; ".join(
        f"{candidate.name} (weight {candidate.weight:.2f})" for candidate in members[:_MAX_NAMED]
    )
    more = f"; and {len(members) - _MAX_NAMED} more" * (len(members) > _MAX_NAMED)
    return (
        f"stack of {len(members)} of {len(candidates)} candidates{failed}: {names}{more}. Candidates are scored by the "
        f"likelihood of held-out labels under {chosen.criterion.name}, because {chosen.reason}"
    )
