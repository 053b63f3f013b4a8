"""Base classes of SCARCE-Meta: one positive-unlabelled learner per class, on one network."""

from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import abbreviate
from scarce.errors import MethodError
from scarce.methods.base import Batch, Method, Problem, break_ties_by_score
from scarce.risk.mixture_proportion import Unlabeled, check_unlabeled, mixture_proportion

__all__ = [
    "MetaMethod",
    "MixtureMethod",
    "Unlabeled",
    "check_unlabeled",
    "class_means",
    "class_probabilities",
    "unlabeled_rows",
]


def unlabeled_rows(excluded: Tensor, unlabeled: Unlabeled) -> Tensor:
    """Return the unlabelled rows of every class as 0/1 of shape (B, q).

    Parameters
    ----------
    excluded : Tensor of shape (B, q)
        ȳ, 1 where a row excludes a class; these are the positives.
    unlabeled : {"all", "rest"}
        ``all`` rows, a sample of p(x) in which the positives appear again; or the ``rest``, the rows that do not
        exclude the class. Each has its own mixture proportion; see
        `scarce.risk.mixture_proportion.mixture_proportion`.

    Examples
    --------
    >>> unlabeled_rows(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "rest").tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    check_unlabeled(unlabeled)
    return torch.ones_like(excluded) if unlabeled == "all" else 1 - excluded


def class_means(values: Tensor, rows: Tensor) -> Tensor:
    """Return the mean of every column of `values` over the `rows` (0/1) of its class; 0 where there are none.

    Examples
    --------
    >>> class_means(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    return (rows * values).sum(dim=0) / rows.sum(dim=0).clamp(min=1)


def class_probabilities(scores: Tensor) -> Tensor:
    """Return (1 − p_k) / Σ_j (1 − p_j) from scores −log p_k, p_k an estimate of p(y ≠ k | x) that may exceed 1.

    Examples
    --------
    >>> class_probabilities(-torch.tensor([[0.5, 0.75, 1.1]]).log()).round(decimals=2).tolist()
    [[0.67..., 0.33..., 0.0]]
    """
    unnormalized = -torch.expm1(-scores.clamp(min=0))
    unnormalized = unnormalized.clamp(min=torch.finfo(unnormalized.dtype).tiny)
    return break_ties_by_score(scores, unnormalized / unnormalized.sum(dim=1, keepdim=True))


class MetaMethod(Method):
    """Σ_k L_k(g) with a positive-unlabelled loss L_k of "not k": the rows that exclude k are its positives.

    The network gives f = −g, so that its arg-max is the arg-min of g. A class that no row of a batch excludes has
    nothing to oppose the unlabelled rows, which would pull its score on all of them, and is left out. Confirmed
    classes play no part.
    """

    predicts_with: ClassVar[tuple[str, ...]] = ()
    """The buffers that `scores` and `probabilities` need."""
    needs_every_class: ClassVar[bool] = False
    """Whether the score of a class means nothing if no example excludes it."""

    def prepare(self, problem: Problem) -> None:
        """Check that some example excludes a class, and every class if `needs_every_class`."""
        super().prepare(problem)
        if problem.labels.per_example.max() == 0:
            raise MethodError(
                f"no example excludes any class, and {self.facts.name} learns from exclusions alone; choose a method that "
                "learns from confirmed classes, such as 'scarce'."
            )
        never = problem.labels.classes[problem.labels.counts == 0]
        if self.needs_every_class and len(never):
            raise MethodError(
                f"no example excludes the class {abbreviate(never)}, so {self.facts.name} has nothing to learn it from; collect "
                "exclusions of it, leave it out of the classes, or choose 'scarce'."
            )

    @abstractmethod
    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """L_k of shape (q,), from the scores of all rows of `model_inputs`."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_k L_k over the classes that count in this batch."""
        return (self.class_losses(-logits, batch) * self.has_loss(batch)).sum()

    def has_loss(self, batch: Batch) -> Tensor:
        """Which classes have a loss in a batch, of shape (q,): by default those that some row excludes."""
        return batch.excluded.sum(dim=0) > 0

    def probabilities(self, logits: Tensor) -> Tensor:
        """σ(s_k) / Σ_j σ(s_j), s the scores."""
        scores = self.scores(logits)
        return break_ties_by_score(scores, torch.softmax(logsigmoid(scores), dim=1))

    def prediction_state(self) -> dict[str, Tensor]:
        """Return only the buffers that predictions need, not those of the training rows."""
        return {name: value for name, value in self.state_dict().items() if name in self.predicts_with}


class MixtureMethod(MetaMethod):
    """A learner that needs the mixture proportion θ_k, the fraction of positives among the unlabelled rows.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabelled: all, which the comparison of the classes' scores is made for, or only
        those that do not exclude it; see `unlabeled_rows`.
    **params
        The parameters of the subclass.
    """

    mixture_proportion: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", **params: Any) -> None:
        super().__init__(unlabeled=unlabeled, **params)
        check_unlabeled(unlabeled)
        self.unlabeled: Unlabeled = unlabeled
        self.register_buffer("mixture_proportion", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Compute mixture proportions from the priors; without priors they start at zero."""
        super().prepare(problem)
        if self.facts.needs_priors:
            assert problem.priors is not None
            self.mixture_proportion = mixture_proportion(
                problem.priors, problem.rates.to(problem.priors), self.unlabeled
            )
        else:
            self.mixture_proportion = torch.zeros(problem.n_classes)
