"""Learn, count what was learned about the labels, and learn again with the likelihood of what was counted."""

import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.labels.single_label import is_single_label
from scarce.methods.base import Accepts, Batch, Method, MethodFacts, Problem, ReadRows
from scarce.methods.labeling import was_labeled
from scarce.methods.registry import make_method, register
from scarce.risk import (
    class_conditional_log_likelihood,
    estimate_exclusion_matrix,
    marginal_nll,
    posterior,
    single_label_log_likelihood,
    single_label_transition,
)
from scarce.risk.likelihood import clamp_confirmed

__all__ = ["Refine", "most_confident"]


def most_confident(names: Tensor, margins: Tensor, fraction: float) -> Tensor:
    """Return which rows belong to this fraction of the rows of their name that have the largest margins; one at least.

    Examples
    --------
    >>> names, margins = torch.tensor([0, 0, 1, 0, 0]), torch.tensor([0.1, 0.9, 0.2, 0.5, 0.0])
    >>> most_confident(names, margins, 0.5).tolist()
    [False, True, True, True, False]
    """
    by_margin = margins.argsort(descending=True, stable=True)
    order = by_margin[names[by_margin].argsort(stable=True)]
    sizes = names.bincount()
    starts = sizes.cumsum(dim=0) - sizes
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device) - starts[names[order]]
    return place < (fraction * sizes.double()).ceil().clamp(min=1)[names]


@register
@renamed_parameters(
    first="base_method",
    short="short_fraction",
    share="confident_fraction",
    settled="tol",
    strength="scar_strength",
    errors="error_rate",
)
class Refine(Method):
    """−mean log Σ_y p_y P(Ȳ | y), with the chances C[y, k] that k is excluded from class y found by counting.

    First a network is trained that need not be good. Then, in rounds, it names a class for every row, C is counted over
    the rows it is most sure of (`scarce.risk.estimate_exclusion_matrix`), and a fresh network is trained with the likelihood
    under C.
    Names are the arg-max of the network alone: counting with what C itself says of a row would confirm its own errors;
    and rows of doubtful class would mix the rows of C. What mixture is left is undone by what the network believes of the
    rows that were counted. Rounds are short until C ceases to move; the last is as
    long as the recipe says. So labels may depend on the true class in any way; the one assumption is that they depend on x
    through it.

    Parameters
    ----------
    base_method : str
        The method that is trained first.
    rounds : int
        At most so many rounds, the last included.
    short_fraction : float
        The length of all stages but the last, as a share of the epochs of the recipe.
    confident_fraction : float
        The share of the rows of every name that is counted.
    tol : float
        C has ceased to move when its entries change by less than this share of their sum.
    scar_strength : float or "count"
        How many rows' weight draws C towards SCAR; by default as many as the counts bear out
        (`scarce.risk.estimate_scar_strength`).
    error_rate : float or "count"
        The chance that an example excludes its own class: the diagonal of C, which is counted too by default.

    Attributes
    ----------
    chances, counts, named : tensors of shape (q, q), (q, q) and (q,)
        C (its rows sum to one where every example has one label), how many rows named y exclude k, and how many were
        named y, of those that were counted.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("refine", rounds=2).params["base_method"]
    'least-excluded'
    """

    facts = MethodFacts(
        "refine", "counted likelihood", "this project", "labels depend on the class", learns_priors=True
    )
    multi_stage = True
    renamed_state = MappingProxyType({"chances": "exclusion_matrix"})

    exclusion_matrix: Tensor
    counts: Tensor
    named: Tensor
    priors: Tensor
    stage: Tensor
    is_last: Tensor
    moved: Tensor

    def __init__(
        self,
        base_method: str = "least-excluded",
        rounds: int = 3,
        short_fraction: float = 0.5,
        confident_fraction: float = 0.5,
        tol: float = 0.05,
        scar_strength: float | Literal["count"] = "count",
        error_rate: float | Literal["count"] = "count",
    ) -> None:
        numbers = {"short_fraction": short_fraction, "confident_fraction": confident_fraction, "tol": tol}
        super().__init__(
            base_method=base_method,
            rounds=rounds,
            **numbers,
            scar_strength=scar_strength,
            error_rate=error_rate,
        )
        check_integer("rounds", rounds, low=1)
        for name, value in numbers.items():
            check_number(name, value, high=1)
        for name, given, most in (
            ("scar_strength", scar_strength, math.inf),
            ("error_rate", error_rate, 1.0),
        ):
            if not isinstance(given, str) or given != "count":
                check_number(name, given, high=most)
        self.base_method = make_method(base_method)
        if self.base_method.multi_stage:
            raise MethodError(
                f"base_method={base_method!r} itself trains in stages; choose another, such as 'scarce'."
            )
        self.uses_inputs = self.base_method.uses_inputs
        self.rounds, self.tol = rounds, tol
        self.short_fraction, self.confident_fraction = short_fraction, confident_fraction
        self.scar_strength, self.error_rate = (
            None if isinstance(given, str) else float(given) for given in (scar_strength, error_rate)
        )
        self._single_label = False
        for name in ("exclusion_matrix", "counts", "named", "priors"):
            self.register_buffer(name, torch.empty(0))
        self.register_buffer("stage", torch.tensor(0))
        self.register_buffer("is_last", torch.tensor(False))
        self.register_buffer("moved", torch.tensor(1.0))

    @property
    def loss_is_likelihood(self) -> bool:  # type: ignore[override]
        """In rounds, and at first if that of the base method is."""
        return bool(self.stage) or self.base_method.loss_is_likelihood

    def can_learn_priors(self) -> bool:
        """Unless the base method needs them."""
        return not self.base_method.facts.needs_priors

    def check_transition(self, transition: object) -> None:
        """Say so if the base method needs a matrix and there is none."""
        self.base_method.check_transition(transition)

    def check_labels(self, labels: ComplementaryLabels) -> None:
        """Say so if the base method cannot learn from labels of this kind."""
        self.base_method.check_labels(labels)

    def accepts(self) -> tuple[Accepts, ...]:
        """What the base method takes."""
        return self.base_method.accepts()

    def prepare(self, problem: Problem) -> None:
        """Prepare the base method."""
        super().prepare(problem)
        self.base_method.prepare(problem)
        self._single_label = is_single_label(problem.labels)
        q = problem.n_classes
        self.exclusion_matrix, self.counts = torch.zeros(2, q, q, dtype=torch.float64).unbind()
        self.named = torch.zeros(q, dtype=torch.float64)
        self.priors = torch.full((q,), 1 / q, dtype=torch.float64)
        self.stage.zero_()
        self.is_last.fill_(False)
        self.moved = torch.tensor(1.0)

    def model_inputs(self, batch: Batch) -> Tensor:
        """What the base method shows, at first."""
        return batch.inputs if self.stage else self.base_method.model_inputs(batch)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss of the base method; in rounds −mean log Σ_y p_y P(Ȳ | y)."""
        if self.stage == 0:
            return self.base_method.loss(logits, batch)
        return marginal_nll(logits, self._evidence(batch)).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Act as the base method does, at first."""
        if self.stage == 0:
            self.base_method.after_step(model, batch)

    def after_epoch(self, epoch: int) -> None:
        """Act as the base method does, at first."""
        if self.stage == 0:
            self.base_method.after_epoch(epoch)

    def first_stage(self, epochs: int) -> int:
        """A short stage."""
        return self._short(epochs)

    def next_stage(self, stage: int, epochs: int, rows: ReadRows) -> int:
        """Count C; then a short round, or the last."""
        names, margins, marked = self._name(rows())
        if self.is_last:
            return 0
        before = self.exclusion_matrix
        counted = marked.clone()
        counted[marked] = most_confident(names[marked], margins[marked], self.confident_fraction)
        self._count(rows(), names, counted)
        self.moved = (self.exclusion_matrix - before).abs().sum() / self.exclusion_matrix.sum().clamp(
            min=1e-12
        )
        self.stage.fill_(stage)
        self.is_last.fill_(stage >= self.rounds or bool(self.moved < self.tol))
        return epochs if self.is_last else self._short(epochs)

    def scores(self, logits: Tensor) -> Tensor:
        """The logits, or, at first, the scores of the base method."""
        return logits if self.stage else self.base_method.scores(logits)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Their softmax, or, at first, the probabilities of the base method."""
        return super().probabilities(logits) if self.stage else self.base_method.probabilities(logits)

    def learned_priors(self) -> Tensor | None:
        """π: the mean of what is known of the classes of rows, as of the end of the last stage; at first equal."""
        return self.priors

    def prediction_state(self) -> dict[str, Tensor]:
        """The stage, what was counted, and what the base method needs."""
        own = {
            name: getattr(self, name) for name in ("stage", "exclusion_matrix", "counts", "named", "priors")
        }
        return own | {
            f"base_method.{name}": value for name, value in self.base_method.prediction_state().items()
        }

    def epoch_log(self) -> dict[str, float | list[float]]:
        """Which stage an epoch belongs to, by which share of its sum C had moved before it, and what priors were found."""
        return {"stage": float(self.stage), "moved": float(self.moved), "priors": self.priors.tolist()}

    def _short(self, epochs: int) -> int:
        return max(1, round(self.short_fraction * epochs))

    def _evidence(self, batch: Batch) -> Tensor:
        if self._single_label:
            log_likelihood = single_label_log_likelihood(batch.excluded, self.exclusion_matrix)
        else:
            log_likelihood = class_conditional_log_likelihood(batch.excluded, self.exclusion_matrix)
        return clamp_confirmed(log_likelihood, batch.confirmed)

    def _name(self, rows: Iterator[tuple[Tensor, Batch]]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the name of every row, by how much its score exceeds the second, and which can be counted; note the priors."""
        names, margins, marked, total = [], [], [], torch.zeros_like(self.priors)
        for logits, batch in rows:
            scores = self.scores(logits)
            (best, second), (name, _) = (pair.unbind(dim=1) for pair in scores.topk(2, dim=1))
            margin = best - second
            if batch.confirmed is not None:
                known = batch.confirmed >= 0
                name = torch.where(known, batch.confirmed, name)
                margin = margin.masked_fill(known, float("inf"))
            names.append(name)
            margins.append(margin)
            marked.append(was_labeled(batch, self._single_label))
            belief = posterior(logits, self._evidence(batch)) if self.stage else one_hot(name, len(total))
            total += belief.sum(dim=0)
        self.priors = total / total.sum()
        return torch.cat(names), torch.cat(margins), torch.cat(marked)

    def _count(self, rows: Iterator[tuple[Tensor, Batch]], names: Tensor, counted: Tensor) -> None:
        """Count the exclusions of these rows by their names, and what is believed of their classes."""
        counts, beliefs = torch.zeros_like(self.counts), torch.zeros_like(self.counts)
        for logits, batch in rows:
            index = batch.index.to(names.device)
            chosen = counted[index]
            members = one_hot(names[index][chosen], len(counts)).to(counts)
            belief = posterior(
                logits[chosen], clamp_confirmed(torch.zeros_like(logits), batch.confirmed)[chosen]
            )
            counts += members.T @ batch.excluded[chosen].to(counts)
            beliefs += members.T @ (belief.to(counts) if self.stage else members)
        self.counts, self.named = counts, names[counted].bincount(minlength=len(counts)).to(counts)
        chances = estimate_exclusion_matrix(counts, self.named, beliefs, self.scar_strength, self.error_rate)
        self.exclusion_matrix = single_label_transition(chances) if self._single_label else chances
