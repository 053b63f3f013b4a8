"""Train, estimate from the predictions how labels depend on the class, and train again with that likelihood."""

import math
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.methods._labeling import was_labeled
from scarce.methods._learned_priors import PriorRegularizer
from scarce.methods.base import Batch, Method, MethodFacts, Problem, ReadRows
from scarce.methods.registry import make_method, register
from scarce.risk import (
    clamp_confirmed,
    class_conditional_log_likelihood,
    estimate_exclusion_matrix,
    marginal_nll,
    posterior,
    single_label_log_likelihood,
    single_label_transition,
)


def most_confident(predicted: Tensor, margins: Tensor, fraction: float) -> Tensor:
    """Return which rows have the largest margins: the given fraction of each predicted class, and at least one row of each.

    Parameters
    ----------
    predicted : Tensor of int, shape (n,)
        The predicted classes.
    margins : Tensor of shape (n,)
        The difference between the two highest scores of each row.
    fraction : float
        The fraction.

    Returns
    -------
    Tensor of bool, shape (n,)

    Examples
    --------
    >>> predicted, margins = torch.tensor([0, 0, 1, 0, 0]), torch.tensor([0.1, 0.9, 0.2, 0.5, 0.0])
    >>> most_confident(predicted, margins, 0.5).tolist()
    [False, True, True, True, False]
    """
    by_margin = margins.argsort(descending=True, stable=True)
    order = by_margin[predicted[by_margin].argsort(stable=True)]
    sizes = predicted.bincount()
    starts = sizes.cumsum(dim=0) - sizes
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device) - starts[predicted[order]]
    return rank < (fraction * sizes.double()).ceil().clamp(min=1)[predicted]


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
    """−mean log Σ_y p_y P(Ȳ | y), p = softmax(f), with C[y, k] = P(k is excluded | class y) counted on confident predictions.

    First a network is trained with the base method, which need not be accurate. Each following round predicts the classes
    of all rows, counts C on the most confident ones (`scarce.risk.estimate_exclusion_matrix`) and trains a new network with
    the likelihood under C. Rounds are short until C converges; the last one has all epochs of the recipe. Labels may depend
    on the true class in any way: the only assumption is that they depend on x only through the class.

    Rows are counted under their predicted class, because posteriors under C would reinforce the errors of C. Uncertain rows are
    not counted, because they would blend the rows of C. The class probabilities of the counted rows correct for the blending
    that remains.

    Parameters
    ----------
    base_method : str
        Name of the method that is trained first.
    rounds : int
        Maximum number of rounds, including the last.
    short_fraction : float
        Length of every stage but the last, as a fraction of the epochs of the recipe.
    confident_fraction : float
        Fraction of the rows of every predicted class that is counted.
    tol : float
        C has converged when the sum of its changes is below this fraction of the sum of its entries.
    scar_strength : float or "count"
        Strength of the SCAR prior on C, in rows; ``"count"`` estimates it from the counts
        (`scarce.risk.estimate_scar_strength`).
    error_rate : float or "count"
        Probability that an example excludes its own class, the diagonal of C; ``"count"`` counts it too.

    Attributes
    ----------
    exclusion_matrix : Tensor of shape (q, q)
        C; its rows sum to one if every example has one label.
    counts : Tensor of shape (q, q)
        How many of the counted rows were predicted y and exclude k.
    n_predicted : Tensor of shape (q,)
        How many of the counted rows were predicted y.

    See Also
    --------
    LeastExcluded : The default base method.
    Forward : The same likelihood with a known matrix, for one label per example.
    ScarLikelihood : The likelihood under SCAR.
    scarce.functional.class_conditional_nll : The loss of a round as a function.
    scarce.functional.single_label_nll : The same for one label per example.

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
    renamed_state = MappingProxyType({"chances": "exclusion_matrix", "named": "n_predicted"})

    exclusion_matrix: Tensor
    counts: Tensor
    n_predicted: Tensor
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
        for name, given, maximum in (
            ("scar_strength", scar_strength, math.inf),
            ("error_rate", error_rate, 1.0),
        ):
            if not isinstance(given, str) or given != "count":
                check_number(name, given, high=maximum)
        self.base_method = make_method(base_method)
        if self.base_method.multi_stage:
            raise MethodError(
                f"base_method={base_method!r} itself trains in stages; choose another, such as 'scarce'."
            )
        base = self.base_method.facts
        self.facts = replace(
            self.facts,
            needs_priors=base.needs_priors,
            needs_transition=base.needs_transition,
            accepts=base.accepts,
        )
        self.uses_inputs = self.base_method.uses_inputs
        self.rounds, self.tol = rounds, tol
        self.short_fraction, self.confident_fraction = short_fraction, confident_fraction
        self.scar_strength, self.error_rate = (
            None if isinstance(given, str) else float(given) for given in (scar_strength, error_rate)
        )
        self._single_label = False
        for name in ("exclusion_matrix", "counts", "n_predicted", "priors"):
            self.register_buffer(name, torch.empty(0))
        self.register_buffer("stage", torch.tensor(0))
        self.register_buffer("is_last", torch.tensor(False))
        self.register_buffer("moved", torch.tensor(1.0))

    @property
    def loss_is_likelihood(self) -> bool:  # type: ignore[override]
        """True after the first stage; in the first stage, whether it is for the base method."""
        return bool(self.stage) or self.base_method.loss_is_likelihood

    def check_transition(self, transition: object) -> None:
        """Check that there is a matrix if the base method needs one."""
        self.base_method.check_transition(transition)

    def check_labels(self, labels: ComplementaryLabels) -> None:
        """Check that the base method can learn from labels of this kind."""
        self.base_method.check_labels(labels)

    def prepare(self, problem: Problem) -> None:
        """Prepare the base method."""
        self.base_method.prepare(problem)  # first, so that errors name the base method
        super().prepare(problem)
        self._single_label = is_single_label(problem.labels)
        q = problem.n_classes
        self.exclusion_matrix, self.counts = torch.zeros(2, q, q, dtype=torch.float64).unbind()
        self.n_predicted = torch.zeros(q, dtype=torch.float64)
        self.priors = torch.full((q,), 1 / q, dtype=torch.float64)
        self.stage.zero_()
        self.is_last.fill_(False)
        self.moved = torch.tensor(1.0)

    def model_inputs(self, batch: Batch) -> Tensor:
        """Return the inputs; in the first stage, those of the base method."""
        return batch.inputs if self.stage else self.base_method.model_inputs(batch)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss of the base method; in rounds −mean log Σ_y p_y P(Ȳ | y)."""
        if self.stage == 0:
            return self.base_method.loss(logits, batch)
        return marginal_nll(logits, self._log_likelihood(batch)).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """In the first stage, call the base method."""
        if self.stage == 0:
            self.base_method.after_step(model, batch)

    def after_epoch(self, epoch: int) -> None:
        """In the first stage, call the base method."""
        if self.stage == 0:
            self.base_method.after_epoch(epoch)

    def first_stage(self, epochs: int) -> int:
        """Return the epochs of a short stage."""
        return self._short_epochs(epochs)

    def next_stage(self, stage: int, epochs: int, rows: ReadRows) -> int:
        """Count C, and return the epochs of the next round: short ones until the last."""
        predicted, margins, labeled = self._predict_rows(rows())
        if self.is_last:
            return 0
        before = self.exclusion_matrix
        is_counted = labeled.clone()
        is_counted[labeled] = most_confident(predicted[labeled], margins[labeled], self.confident_fraction)
        self._count(rows(), predicted, is_counted)
        self.moved = (self.exclusion_matrix - before).abs().sum() / self.exclusion_matrix.sum().clamp(
            min=1e-12
        )
        self.stage.fill_(stage)
        self.is_last.fill_(stage >= self.rounds or bool(self.moved < self.tol))
        return epochs if self.is_last else self._short_epochs(epochs)

    def scores(self, logits: Tensor) -> Tensor:
        """Return the logits; in the first stage, the scores of the base method."""
        return logits if self.stage else self.base_method.scores(logits)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the softmax of the logits; in the first stage, the probabilities of the base method."""
        return super().probabilities(logits) if self.stage else self.base_method.probabilities(logits)

    def learned_priors(self) -> Tensor | None:
        """Return π, the mean posterior of the rows at the end of the latest stage; equal priors in the first stage."""
        return self.priors

    def regularize_priors(self, priors: Tensor, labels: ComplementaryLabels) -> Tensor:
        """Draw them towards the candidate shares and clip them to what the labels allow; see `scarce.methods._learned_priors`."""
        regularizer = PriorRegularizer.from_labels(labels)
        error_rates = self.exclusion_matrix.diagonal().cpu().to(priors)
        return regularizer.clip(regularizer.shrink(priors / priors.sum()), error_rates)

    def fitted_attributes(self) -> dict[str, NDArray[Any]]:
        """C as `exclusion_matrix_`, and the counts behind it as `exclusion_counts_`."""
        buffers = {"exclusion_matrix_": self.exclusion_matrix, "exclusion_counts_": self.counts}
        return {name: buffer.double().cpu().numpy() for name, buffer in buffers.items()}

    def prediction_state(self) -> dict[str, Tensor]:
        """Return the stage, the counts, and what the base method needs."""
        counted_state = {
            name: getattr(self, name)
            for name in ("stage", "exclusion_matrix", "counts", "n_predicted", "priors")
        }
        return counted_state | {
            f"base_method.{name}": value for name, value in self.base_method.prediction_state().items()
        }

    def epoch_log(self) -> dict[str, float | list[float]]:
        """Return the stage of the epoch, the relative change of C before that stage, and the priors."""
        return {"stage": float(self.stage), "moved": float(self.moved), "priors": self.priors.tolist()}

    def _short_epochs(self, epochs: int) -> int:
        return max(1, round(self.short_fraction * epochs))

    def _log_likelihood(self, batch: Batch) -> Tensor:
        if self._single_label:
            log_likelihood = single_label_log_likelihood(batch.excluded, self.exclusion_matrix)
        else:
            log_likelihood = class_conditional_log_likelihood(batch.excluded, self.exclusion_matrix)
        return clamp_confirmed(log_likelihood, batch.confirmed)

    def _predict_rows(self, rows: Iterator[tuple[Tensor, Batch]]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the predicted class and margin of every row, and whether it was labeled; update the priors."""
        predicted, margins, labeled, total = [], [], [], torch.zeros_like(self.priors)
        for logits, batch in rows:
            scores = self.scores(logits)
            (best, second), (best_class, _) = (pair.unbind(dim=1) for pair in scores.topk(2, dim=1))
            margin = best - second
            if batch.confirmed is not None:
                known = batch.confirmed >= 0
                best_class = torch.where(known, batch.confirmed, best_class)
                margin = margin.masked_fill(known, float("inf"))
            predicted.append(best_class)
            margins.append(margin)
            labeled.append(was_labeled(batch.excluded, batch.confirmed, self._single_label))
            posteriors = (
                posterior(logits, self._log_likelihood(batch))
                if self.stage
                else one_hot(best_class, len(total))
            )
            total += posteriors.sum(dim=0)
        self.priors = total / total.sum()
        return torch.cat(predicted), torch.cat(margins), torch.cat(labeled)

    def _count(self, rows: Iterator[tuple[Tensor, Batch]], predicted: Tensor, is_counted: Tensor) -> None:
        """Count the exclusions of the chosen rows by predicted class, sum their posteriors, and update C."""
        counts, posterior_sums = torch.zeros_like(self.counts), torch.zeros_like(self.counts)
        for logits, batch in rows:
            index = batch.index.to(predicted.device)
            chosen = is_counted[index]
            members = one_hot(predicted[index][chosen], len(counts)).to(counts)
            posteriors = posterior(
                logits[chosen], clamp_confirmed(torch.zeros_like(logits), batch.confirmed)[chosen]
            )
            counts += members.T @ batch.excluded[chosen].to(counts)
            posterior_sums += members.T @ (posteriors.to(counts) if self.stage else members)
        self.counts, self.n_predicted = (
            counts,
            predicted[is_counted].bincount(minlength=len(counts)).to(counts),
        )
        matrix = estimate_exclusion_matrix(
            counts, self.n_predicted, posterior_sums, self.scar_strength, self.error_rate
        )
        matrix = single_label_transition(matrix) if self._single_label else matrix
        self.exclusion_matrix = matrix.contiguous()  # `torch.linalg` returns column-major matrices
