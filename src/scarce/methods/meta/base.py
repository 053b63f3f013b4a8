"""Base classes of SCARCE-Meta: one positive-unlabeled (PU) problem per class, solved by one shared network."""

from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import abbreviate
from scarce.errors import MethodError
from scarce.methods.base import Batch, Method, Problem, break_ties_by_score
from scarce.risk._mixture_proportion import Unlabeled, check_unlabeled, mixture_proportion


def unlabeled_rows(excluded: Tensor, unlabeled: Unlabeled) -> Tensor:
    """Return the unlabeled rows of every class as 0/1.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a row excludes a class; these rows are the positives of the class.
    unlabeled : {"all", "rest"}
        ``"all"``: every row, a sample of p(x) that contains the positives too. ``"rest"``: the rows that do not exclude the
        class. The two have different mixture proportions; see `scarce.risk._mixture_proportion.mixture_proportion`.

    Returns
    -------
    Tensor of shape (n, q)

    Examples
    --------
    >>> unlabeled_rows(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "rest").tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    check_unlabeled(unlabeled)
    return torch.ones_like(excluded) if unlabeled == "all" else 1 - excluded


def class_probabilities(scores: Tensor) -> Tensor:
    """Return (1 − p_k) / Σ_j (1 − p_j) from scores −log p_k, where p_k estimates p(y ≠ k | x).

    Estimates above 1 are treated as 1.

    Parameters
    ----------
    scores : Tensor of shape (n, q)
        −log p_k.

    Returns
    -------
    Tensor of shape (n, q)

    Examples
    --------
    >>> class_probabilities(-torch.tensor([[0.5, 0.75, 1.1]]).log()).round(decimals=2).tolist()
    [[0.67..., 0.33..., 0.0]]
    """
    unnormalized = -torch.expm1(-scores.clamp(min=0))
    unnormalized = unnormalized.clamp(min=torch.finfo(unnormalized.dtype).tiny)
    return break_ties_by_score(scores, unnormalized / unnormalized.sum(dim=1, keepdim=True))


class MetaMethod(Method):
    """Σ_k L_k(g_k), where L_k is a positive-unlabeled (PU) loss for "not k"; the rows that exclude k are its positives.

    The logits of the network are f = −g, so the class with the largest logit is the one with the lowest score g. A class
    that no row of the batch excludes is left out of the step: without positives, the unlabeled rows alone would push its
    score in one direction. Confirmed classes are not used.

    Examples
    --------
    >>> from scarce.methods import Batch, MetaMethod, MethodFacts
    >>> from scarce.risk.binary_losses import class_means
    >>> class MeanScore(MetaMethod):
    ...     facts = MethodFacts("mean", "mean score of unlabeled rows", "nobody", "SCAR")
    ...     def class_losses(self, g, batch):
    ...         return class_means(g, unlabeled_rows(batch.excluded, "rest"))
    >>> batch = Batch(torch.zeros(2, 2), torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.arange(2))
    >>> MeanScore().loss(torch.tensor([[9.0, 9.0], [9.0, -3.0]]), batch).item()  # the first class is left out
    3.0
    """

    predicts_with: ClassVar[tuple[str, ...]] = ()
    """The buffers that `scores` and `probabilities` need."""
    needs_every_class: ClassVar[bool] = False
    """Whether every class must be excluded by some example for its score to be meaningful."""

    def prepare(self, problem: Problem) -> None:
        """Check that some example excludes a class, or that every class is excluded if the method `needs_every_class`."""
        super().prepare(problem)
        if problem.labels.per_example.max() == 0:
            raise MethodError(
                f"no example excludes any class, and {self.facts.name} learns only from exclusions; choose a method that "
                "learns from confirmed classes, such as 'scarce'."
            )
        never = problem.labels.classes[problem.labels.counts == 0]
        if self.needs_every_class and len(never):
            raise MethodError(
                f"no example excludes the class {abbreviate(never)}, so {self.facts.name} cannot learn it; collect exclusions of "
                "it, remove it from the classes, or choose 'scarce'."
            )

    @abstractmethod
    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """Return L_k of every class, of shape (q,), from the scores of all rows of `model_inputs`."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Σ_k L_k over the classes that have a loss in this batch."""
        return (self.class_losses(-logits, batch) * self.has_loss(batch)).sum()

    def has_loss(self, batch: Batch) -> Tensor:
        """Return which classes have a loss in a batch, of shape (q,); by default those that some row excludes."""
        return batch.excluded.sum(dim=0) > 0

    def probabilities(self, logits: Tensor) -> Tensor:
        """σ(s_k) / Σ_j σ(s_j), s being the scores."""
        scores = self.scores(logits)
        return break_ties_by_score(scores, torch.softmax(logsigmoid(scores), dim=1))

    def prediction_state(self) -> dict[str, Tensor]:
        """Return only the buffers that predictions need, without those of the training rows."""
        return {name: value for name, value in self.state_dict().items() if name in self.predicts_with}


class MixtureMethod(MetaMethod):
    """Base of methods that need the mixture proportion θ_k, the fraction of "not k" among the unlabeled rows of class k.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it. The scores of different classes are
        comparable with ``"all"``; see `unlabeled_rows`.
    **params
        The parameters of the subclass.

    Attributes
    ----------
    mixture_proportion : Tensor of shape (q,)
        θ.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> isinstance(make_method("meta-pusb"), MixtureMethod)
    True
    """

    mixture_proportion: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", **params: Any) -> None:
        super().__init__(unlabeled=unlabeled, **params)
        check_unlabeled(unlabeled)
        self.unlabeled: Unlabeled = unlabeled
        self.register_buffer("mixture_proportion", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Compute the mixture proportions from the priors; without priors, start at zero."""
        super().prepare(problem)
        if self.facts.needs_priors:
            assert problem.priors is not None
            self.mixture_proportion = mixture_proportion(
                problem.priors, problem.rates.to(problem.priors), self.unlabeled
            )
        else:
            self.mixture_proportion = torch.zeros(problem.n_classes)
