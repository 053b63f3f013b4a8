"""What `method="auto"` tried and chose, and why."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scarce._console import MAX_WIDTH, text_table
from scarce.metrics import CoExclusion


@dataclass(frozen=True)
class Candidate:
    """One candidate of a stack: a learner trained under a mechanism.

    Attributes
    ----------
    name, mechanism, learner : str
        ``name`` is ``"<learner>, <mechanism>"``, such as ``"linear C=1, scar"``.
    weight : float
        Its weight in the stack; 0 if it is not a member.
    score : float or None
        The mean log-likelihood of the labels of held-out rows under the criterion; None if it was dropped after the first fold
        or failed.
    seconds : float
        The time its evaluation took; the time of models that are trained together is divided equally among them.
    error : str or None
        The error message if it failed.

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
    """What ``method="auto"`` tried, what it chose, and why; print it to read it.

    Attributes
    ----------
    candidates : tuple of Candidate
        All candidates, sorted by weight and then by score, best first. A single method is the only candidate.
    criterion : str
        The mechanism under which the likelihood of held-out labels is computed, the same for all candidates; ``""`` if a single
        method was chosen.
    gate : CoExclusion or None
        The test of SCAR (`scarce.metrics.co_exclusion_test`); None if no example has several labels, or answers are recorded.
    priors : tuple of q floats
        The class priors, given or estimated; empty if a single method was chosen.
    reason : str
        The choice and the reason in one line.
    error_rates : pair of floats or None
        With recorded answers, the learned rates of wrong "no" and of wrong "yes" answers.

    See Also
    --------
    fit_stack : Makes the choice.
    scarce.ScarceClassifier : Stores it as `choice_`.

    Examples
    --------
    >>> candidates = Candidate("linear C=1, scar", "scar", "linear C=1", weight=1.0, score=-0.5, seconds=0.1),
    >>> choice = Choice(candidates, criterion="scar", gate=None, priors=(0.25, 0.75), reason="stack of 1 of 1 candidates")
    >>> print(choice)
    stack of 1 of 1 candidates
    learner     mechanism  weight    score  seconds
    linear C=1  scar         1.00  -0.5000      0.1
    weight: share in the stack; "-" if it is not a member
    score: mean log-likelihood of held-out labels, higher is better; "-" if dropped after the first fold
    """

    candidates: tuple[Candidate, ...]
    criterion: str
    gate: CoExclusion | None
    priors: tuple[float, ...]
    reason: str
    error_rates: tuple[float, float] | None = None

    def __str__(self) -> str:
        return "\n".join([self.reason, *self.comparison_lines()])

    def comparison_lines(self, width: int = MAX_WIDTH) -> list[str]:
        """Return the table of candidates, at most `width` characters wide, and what it means; empty for a single method."""
        if not self.criterion:
            return []
        rows = [
            [
                candidate.learner,
                candidate.mechanism,
                f"{candidate.weight:.2f}" if candidate.weight else "-",
                "-" if candidate.score is None else f"{candidate.score:.4f}",
                f"{candidate.seconds:.1f}",
            ]
            for candidate in self.candidates
        ]
        lines = text_table(
            ["learner", "mechanism", "weight", "score", "seconds"], rows, 2, width
        ).splitlines()
        lines += [
            'weight: share in the stack; "-" if it is not a member',
            'score: mean log-likelihood of held-out labels, higher is better; "-" if dropped after the first fold',
        ]
        lines += [
            f"failed: {candidate.name}: {candidate.error}" for candidate in self.candidates if candidate.error
        ]
        if self.gate is not None:
            verdict = "SCAR is rejected" if self.gate.rejects_scar else "SCAR is not rejected"
            lines.append(
                f"co-exclusion test over {self.gate.n_pairs} pairs of classes: Z = {self.gate.statistic:.2f}, {verdict}"
            )
        return lines

    @classmethod
    def from_method(cls, method: str, reason: str) -> "Choice":
        """Return the choice of a single method, without a comparison.

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
        """Return the choice that `as_dict` returned as plain data."""
        return cls(
            candidates=tuple(Candidate(**candidate) for candidate in record["candidates"]),
            criterion=record["criterion"],
            gate=None if record["gate"] is None else CoExclusion(**record["gate"]),
            priors=tuple(record["priors"]),
            reason=record["reason"],
            error_rates=None if record.get("error_rates") is None else tuple(record["error_rates"]),
        )
