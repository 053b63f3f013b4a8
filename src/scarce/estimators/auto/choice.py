"""The record of what the automatic default tried and chose."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scarce.metrics import CoExclusion

__all__ = ["Candidate", "Choice"]


@dataclass(frozen=True)
class Candidate:
    """One candidate of a stack: a learner trained under a mechanism.

    Attributes
    ----------
    name, mechanism, learner : str
        Its name, ``"<learner>, <mechanism>"``, and the two parts.
    weight : float
        Its weight in the stack; 0 if it is not a member.
    score : float or None
        The mean log-likelihood of held-out labels under the criterion; None if it was not evaluated on all folds.
    seconds : float
        How long its evaluation took; models that are trained together share the time equally.
    error : str or None
        The error message, if it failed.

    See Also
    --------
    Choice : All candidates of a fit.

    Examples
    --------
    >>> candidate = Candidate("linear C=1, scar", "scar", "linear C=1", weight=0.7, score=-0.5, seconds=0.1)
    >>> candidate.weight > 0  # it is a member of the stack
    True
    """

    name: str
    mechanism: str
    learner: str
    weight: float
    score: float | None
    seconds: float
    error: str | None = None


@dataclass(frozen=True)
class Choice:
    """What ``method="auto"`` tried, what it chose, and why.

    Attributes
    ----------
    candidates : tuple of Candidate
        The candidates, sorted by weight and then by score, best first.
    criterion : str
        The mechanism under which the likelihood of held-out labels is computed; the same for all candidates.
    gate : CoExclusion or None
        The test of SCAR, if some examples have several labels.
    priors : tuple of q floats
        The estimated class priors.
    reason : str
        The choice and the reason in one sentence.
    error_rates : pair of floats or None
        With recorded answers, the learned rates at which annotators wrongly say "no" and wrongly say "yes".

    See Also
    --------
    fit_stack : Makes the choice.
    scarce.ScarceClassifier : Stores it as `choice_`.

    Examples
    --------
    >>> candidates = Candidate("linear C=1, scar", "scar", "linear C=1", weight=1.0, score=-0.5, seconds=0.1),
    >>> choice = Choice(candidates, criterion="scar", gate=None, priors=(0.25, 0.75), reason="exclusions agree with SCAR")
    >>> [candidate.name for candidate in choice.candidates if candidate.weight > 0]
    ['linear C=1, scar']
    """

    candidates: tuple[Candidate, ...]
    criterion: str
    gate: CoExclusion | None
    priors: tuple[float, ...]
    reason: str
    error_rates: tuple[float, float] | None = None

    @classmethod
    def from_method(cls, method: str, reason: str) -> "Choice":
        """Return the choice of a single method, without a comparison of candidates.

        Examples
        --------
        >>> Choice.from_method("refine", "method: refine, because …").candidates[0].weight
        1.0
        """
        return cls((Candidate(method, method, method, 1.0, None, 0.0),), "", None, (), reason)

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain data that JSON can store.

        Examples
        --------
        >>> choice = Choice((Candidate("linear C=1, scar", "scar", "linear C=1", 1.0, -0.5, 0.1),), "scar", None, (1.0,), "…")
        >>> Choice.from_dict(choice.as_dict()) == choice
        True
        """
        return asdict(self) | {
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "priors": list(self.priors),
            "error_rates": None if self.error_rates is None else list(self.error_rates),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Choice":
        """Return the choice from the output of `as_dict`."""
        return cls(
            candidates=tuple(Candidate(**candidate) for candidate in record["candidates"]),
            criterion=record["criterion"],
            gate=None if record["gate"] is None else CoExclusion(**record["gate"]),
            priors=tuple(record["priors"]),
            reason=record["reason"],
            error_rates=None if record.get("error_rates") is None else tuple(record["error_rates"]),
        )
