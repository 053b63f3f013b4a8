"""Learn, count what was learned about the labels, and learn again with the likelihood of what was counted."""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from scarce.errors import MethodError
from scarce.methods.base import Accepts, Batch, Method, MethodFacts, Problem, check_number
from scarce.methods.registry import make_method, register
from scarce.risk import (
    conditional_evidence,
    confirm,
    evidence_losses,
    implied_chances,
    one_mark_evidence,
    one_mark_transition,
)

__all__ = ["Refine"]


@register
class Refine(Method):
    """−mean log Σ_y p_y P(Ȳ | y), with the chances C[y, k] that k is excluded from class y found by rounds of counting.

    First a robust method is trained. Then, in rounds, the network names a class for every row, C is counted over these
    rows (`scarce.risk.implied_chances`), and a fresh network is trained with the likelihood under C. Names are the arg-max
    of the network alone: counting with what C itself says of a row would confirm its own errors. Rounds are
    short until C ceases to move; the last is as long as the first training. So labels may depend on the
    true class in any way; the one assumption is that they depend on x through it.

    Parameters
    ----------
    first : str
        The method that is trained first.
    rounds : int
        At most so many rounds, the last included.
    short : float
        The length of a round before the last, as a share of the epochs of the recipe.
    settled : float
        C has ceased to move when its entries change by less than this share of their sum.
    strength : float
        How many rows' weight draws C towards SCAR.
    errors : float or "count"
        The chance that an example excludes its own class: the diagonal of C, or "count" to count it too.

    Attributes
    ----------
    chances, counts, named : tensors of shape (q, q), (q, q) and (q,)
        C, how many rows named y exclude k, and how many were named y.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("refine", rounds=2).params["first"]
    'scarce'
    """

    facts = MethodFacts(
        "refine", "counted likelihood", "this project", "labels depend on the class", needs_priors=True
    )
    in_stages = True

    chances: Tensor
    counts: Tensor
    named: Tensor
    stage: Tensor
    is_last: Tensor

    def __init__(
        self,
        first: str = "scarce",
        rounds: int = 4,
        short: float = 0.25,
        settled: float = 0.05,
        strength: float = 100.0,
        errors: float | Literal["count"] = 0.0,
    ) -> None:
        super().__init__(
            first=first, rounds=rounds, short=short, settled=settled, strength=strength, errors=errors
        )
        check_number("rounds", rounds, low=1, whole=True)
        for name, value in (("short", short), ("settled", settled)):
            check_number(name, value, high=1)
        check_number("strength", strength)
        if errors != "count":
            check_number("errors", errors, high=1)
        self.first = make_method(first)
        if self.first.in_stages:
            raise MethodError(f"first={first!r} itself trains in stages; choose another, such as 'scarce'.")
        self.rounds, self.short, self.settled, self.strength = rounds, short, settled, strength
        self.errors = None if errors == "count" else float(errors)
        self.one_mark = False
        for name in ("chances", "counts", "named"):
            self.register_buffer(name, torch.empty(0))
        self.register_buffer("stage", torch.tensor(0))
        self.register_buffer("is_last", torch.tensor(False))
        self.register_buffer("moved", torch.tensor(1.0))

    def accepts(self) -> tuple[Accepts, ...]:
        """What the first method takes."""
        return self.first.accepts()

    def prepare(self, problem: Problem) -> None:
        """Prepare the first method."""
        super().prepare(problem)
        self.first.prepare(problem)
        self.one_mark = bool((problem.labels.per_example == 1).all())
        q = problem.n_classes
        self.chances, self.counts = torch.zeros(2, q, q, dtype=torch.float64).unbind()
        self.named = torch.zeros(q, dtype=torch.float64)
        self.stage.zero_()
        self.is_last.fill_(False)

    def shown(self, batch: Batch) -> Tensor:
        """What the first method shows, at first."""
        return batch.inputs if self.stage else self.first.shown(batch)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss of the first method; in rounds −mean log Σ_y p_y P(Ȳ | y)."""
        if self.stage == 0:
            return self.first.loss(logits, batch)
        if self.one_mark:
            evidence = one_mark_evidence(batch.excluded, one_mark_transition(self.chances))
        else:
            evidence = conditional_evidence(batch.excluded, self.chances)
        return evidence_losses(logits, confirm(evidence, batch.confirmed)).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Act as the first method does, at first."""
        if self.stage == 0:
            self.first.after_step(model, batch)

    def after_epoch(self, epoch: int) -> None:
        """Act as the first method does, at first."""
        if self.stage == 0:
            self.first.after_epoch(epoch)

    def next_stage(self, stage: int, epochs: int, rows: Iterable[tuple[Tensor, Batch]]) -> int:
        """Count C; then a short round, or the last."""
        if self.is_last:
            return 0
        before = self.chances
        self._count(rows)
        self.moved = (self.chances - before).abs().sum() / self.chances.sum().clamp(min=1e-12)
        self.stage.fill_(stage)
        self.is_last.fill_(stage >= self.rounds or bool(self.moved < self.settled))
        return epochs if self.is_last else max(1, round(self.short * epochs))

    def scores(self, logits: Tensor) -> Tensor:
        """The logits, or, at first, the scores of the first method."""
        return logits if self.stage else self.first.scores(logits)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Their softmax, or, at first, the probabilities of the first method."""
        return super().probabilities(logits) if self.stage else self.first.probabilities(logits)

    def prediction_state(self) -> dict[str, Tensor]:
        """The stage, and C with its counts."""
        return {name: getattr(self, name) for name in ("stage", "chances", "counts", "named")}

    def report(self) -> dict[str, float | list[float]]:
        """Which stage an epoch belongs to, and by which share of its sum C had moved before it."""
        return {"stage": float(self.stage), "moved": float(self.moved)}

    def _count(self, rows: Iterable[tuple[Tensor, Batch]]) -> None:
        counts, named = torch.zeros_like(self.counts), torch.zeros_like(self.named)
        for logits, batch in rows:
            names = self.scores(logits).argmax(dim=1)
            if batch.confirmed is not None:
                names = torch.where(batch.confirmed >= 0, batch.confirmed, names)
            members = one_hot(names, len(named)).to(counts)
            counts += members.T @ batch.excluded.to(counts)
            named += members.sum(dim=0)
        self.counts, self.named = counts, named
        self.chances = implied_chances(counts, named, self.strength, self.errors)
