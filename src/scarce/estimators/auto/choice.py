"""What the automatic default did, and why."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scarce.metrics import CoExclusion

__all__ = ["Candidate", "Choice"]


@dataclass(frozen=True)
class Candidate:
    """One learner under one mechanism.

    Attributes
    ----------
    name, mechanism, learner : str
        What it is.
    weight : float
        Its weight in the stack; 0 if it is not a member.
    score : float or None
        The mean log-likelihood of held-out labels under the criterion; None if it was not evaluated on all folds.
    seconds : float
        The time its evaluation took; models that were trained together share it.
    error : str or None
        Why it was left out, if it failed.
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
    """What was tried and what was chosen.

    Attributes
    ----------
    candidates : tuple of Candidate
        In the order of their weights and scores.
    criterion : str
        The mechanism under which the likelihood of held-out labels was computed, the same for all candidates.
    gate : CoExclusion or None
        The test of SCAR, where examples have several labels.
    priors : tuple of float
        The class priors that were estimated.
    reason : str
        One sentence.
    error_rates : pair of floats or None
        Of recorded answers: how often annotators wrongly say "no" and "yes", as far as it was learned.
    """

    candidates: tuple[Candidate, ...]
    criterion: str
    gate: CoExclusion | None
    priors: tuple[float, ...]
    reason: str
    error_rates: tuple[float, float] | None = None

    @classmethod
    def from_method(cls, method: str, reason: str) -> "Choice":
        """Return the choice of one method without candidates to compare.

        Examples
        --------
        >>> Choice.from_method("refine", "method: refine, because …").candidates[0].weight
        1.0
        """
        return cls((Candidate(method, method, method, 1.0, None, 0.0),), "", None, (), reason)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it.

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
