"""The interface of a method: how complementary labels become a training loss."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import SKIP

Accepts = Literal["single", "multiple", "unlabeled"]


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one training step; n is the number of rows, q the number of classes.

    Examples
    --------
    >>> batch = Batch(torch.zeros(1, 4), excluded=torch.tensor([[0.0, 1.0]]), index=torch.tensor([7]))
    >>> batch.excluded.shape, batch.confirmed
    (torch.Size([1, 2]), None)
    """

    inputs: Tensor
    """The inputs of the model. In distributed training, only the shard of this process, unless the method
    `uses_inputs`; the other fields cover all rows."""
    excluded: Tensor
    """ȳ of shape (n, q), 1 where a class is excluded, in the dtype of the logits."""
    index: Tensor
    """The positions of the rows in the training data, of shape (n,)."""
    confirmed: Tensor | None = None
    """The confirmed class of each row, of shape (n,), −1 where it is unknown; None if no row of the data has one."""


ReadRows = Callable[[], Iterator[tuple[Tensor, Batch]]]
"""Iterates over all training rows in batches: the logits and the batch."""


@dataclass(frozen=True)
class Problem:
    """What a method may need to know about the whole data before the first step.

    Examples
    --------
    >>> problem = Problem(ComplementaryLabels.from_single([0, 1, 1, 2], classes=3))
    >>> problem.n_classes, problem.rates.tolist()
    (3, [0.25, 0.5, 0.25])
    """

    labels: ComplementaryLabels
    priors: Tensor | None = None
    """Class priors π of shape (q,)."""
    transition: Tensor | None = None
    """T[y, k] = P(k is excluded | class y) of shape (q, q), one row per true class; None if unknown."""
    make_model: Callable[[], nn.Module] | None = None
    """Builds another network like the first, for methods that train two."""

    @property
    def n_examples(self) -> int:
        """Number of examples n."""
        return self.labels.n_examples

    @property
    def n_classes(self) -> int:
        """Number of classes q."""
        return self.labels.n_classes

    @property
    def rates(self) -> Tensor:
        """Fraction of examples that exclude each class, π̄ of shape (q,)."""
        return torch.as_tensor(self.labels.rates.copy())


@dataclass(frozen=True)
class MethodFacts:
    """What a user should know before choosing a method; the table of methods and the checks use it.

    The facts of a class hold for its default parameters. Where parameters change them, the constructor sets `facts` of the
    instance.

    Examples
    --------
    >>> facts = MethodFacts("mine", "my method", "My paper, 2026", "SCAR", needs_priors=True)
    >>> facts.accepts
    ('single', 'multiple', 'unlabeled')
    """

    name: str
    """The name for `make_method`."""
    title: str
    """The name in words."""
    paper: str
    """Authors, venue and year."""
    assumes: str
    """What the method assumes about the labels."""
    needs_priors: bool = False
    """Whether class priors are needed."""
    learns_priors: bool = False
    """Whether unknown priors are learned during training; none need be given, unless the method `needs_priors` too."""
    needs_transition: bool = False
    """Whether a transition matrix is needed."""
    needs_answers: bool = False
    """Whether a table of answers is needed."""
    accepts: tuple[Accepts, ...] = ("single", "multiple", "unlabeled")
    """How many labels an example may have: one, several, none."""
    revision: int = 1
    """Increased when the same settings give different numbers; results of earlier revisions are then outdated."""
    url: str = ""
    """Where to find the paper; empty for methods of this project."""


def break_ties_by_score(scores: Tensor, probabilities: Tensor) -> Tensor:
    """Return probabilities whose arg-max is that of the scores, even where rounding made the largest probabilities equal.

    Parameters
    ----------
    scores, probabilities : Tensor of shape (n, q)
        Scores, and probabilities in the same order up to rounding.

    Returns
    -------
    Tensor of shape (n, q)

    Examples
    --------
    >>> scores = torch.tensor([[40.0, 50.0]])
    >>> break_ties_by_score(scores, torch.tensor([[0.5, 0.5]])).argmax(dim=1).item()
    1
    """
    best = scores.argmax(dim=1, keepdim=True)
    highest = probabilities.amax(dim=1, keepdim=True)
    above = highest.nextafter(torch.ones_like(highest))
    agreed = probabilities.argmax(dim=1, keepdim=True) == best
    return probabilities.scatter(1, best, torch.where(agreed, highest, above))


class Method(nn.Module, ABC):
    """How complementary labels become a training loss.

    A subclass declares `facts`, passes every parameter of its constructor to ``super().__init__`` by name, and defines
    `loss`. State that lives across steps belongs in buffers, which move with the device and are saved in checkpoints.

    Parameters
    ----------
    **params
        The parameters of the subclass; kept as `params`, from which the method can be rebuilt.

    See Also
    --------
    register : Make a method available by name.
    scarce.testing.check_method : Check that a method keeps the contract.

    Examples
    --------
    >>> class Mine(Method):
    ...     facts = MethodFacts("mine", "my method", "nobody", "nothing")
    ...     def loss(self, logits, batch):
    ...         return (logits.softmax(dim=1) * batch.excluded).sum(dim=1).mean()
    >>> batch = Batch(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
    >>> Mine().loss(torch.zeros(1, 2), batch).item()
    0.5
    """

    facts: MethodFacts
    multi_stage: ClassVar[bool] = False
    """Whether training has several stages; see `next_stage`."""
    renamed_state: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Earlier names of buffers and logged numbers, mapped to the present ones; saved classifiers may have either."""
    loss_is_likelihood: bool = False
    """Whether the loss is the mean negative log-likelihood of the labels of a row, so it can score held-out rows."""
    uses_inputs: bool = False
    """Whether the method uses the inputs in addition to logits and labels, to append rows or to run a network again."""

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self.params = params

    def check_transition(self, transition: object) -> None:
        """Check that there is a transition matrix if the method needs one."""
        if self.facts.needs_transition and transition is None:
            raise MethodError(
                f"{self.facts.name} needs a transition matrix p(excluded | true class); pass transition='uniform' or the "
                "matrix itself (--transition)."
            )

    def check_labels(self, labels: ComplementaryLabels) -> None:
        """Check that the method can learn from labels of this kind."""
        facts = self.facts
        if (
            facts.needs_answers
            and labels.answers is None
            and (labels.per_example[labels.confirmed < 0] > 0).any()
        ):
            raise MethodError(
                f"{facts.name} needs a table of answers, but these labels hold only exclusions; make them with "
                "from_answers or from_answer_matrix, or choose method='scar-likelihood'."
            )
        max_labels = int(labels.per_example.max())
        if "multiple" not in facts.accepts and max_labels > 1:
            fix = "pass pairs=True (--set pairs=true) to treat each as a separate example, or " * (
                "pairs" in self.params
            )
            raise MethodError(
                f"{facts.name} takes one excluded class per example, but {labels.name_of(int(labels.per_example.argmax()))} "
                f"has {max_labels}; {fix}choose a method that takes several, such as 'scarce'."
            )
        has_answers = (
            facts.needs_answers and labels.answers is not None and (labels.answers.answer != SKIP).any()
        )
        has_classes = labels.confirmed.max() >= 0 and "unlabeled" in facts.accepts
        if max_labels == 0 and not has_answers and not has_classes:
            raise MethodError(
                f"no example excludes any class, so {facts.name} has nothing to learn from; pass labels with exclusions."
            )

    def prepare(self, problem: Problem) -> None:
        """Set up the method for the whole data; called once before the first epoch."""
        facts, labels = self.facts, problem.labels
        if facts.needs_priors and problem.priors is None:
            raise MethodError(
                f"{facts.name} needs class priors; pass priors=[...] with {problem.n_classes} numbers."
            )
        self.check_transition(problem.transition)
        q = problem.n_classes
        for name, values, shape in (
            ("priors", problem.priors, (q,)),
            ("transition", problem.transition, (q, q)),
        ):
            if values is not None and values.shape != shape:
                raise MethodError(
                    f"{name} has shape {tuple(values.shape)}; expected {shape} for {q} classes."
                )
        self.check_labels(labels)
        n_unused = int((labels.per_example == 0).sum())
        if n_unused and "unlabeled" not in facts.accepts:
            warnings.warn(
                f"{n_unused} of {labels.n_examples} examples exclude no class; {facts.name} cannot use them and leaves them out.",
                stacklevel=2,
            )

    def model_inputs(self, batch: Batch) -> Tensor:
        """Return the inputs of the model in a step: those of the batch. A method that `uses_inputs` may append rows."""
        return batch.inputs

    @abstractmethod
    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the scalar to minimize, from the logits of all rows of `model_inputs`."""

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Run after an optimizer step; does nothing by default."""

    def after_epoch(self, epoch: int) -> None:
        """Run after an epoch; does nothing by default."""

    def first_stage(self, epochs: int) -> int:
        """Return the number of epochs of the first stage of training; by default all those of the recipe."""
        return epochs

    def next_stage(self, stage: int, epochs: int, rows: ReadRows) -> int:
        """Return the number of epochs of the next stage of training, at most those of the recipe; 0, the default, ends it.

        Only called if `multi_stage`. Every stage starts from the initial weights of the network, with its own
        schedule.

        Parameters
        ----------
        stage : int
            The number of the next stage; the first stage has the number 0.
        epochs : int
            The epochs of the recipe.
        rows : callable
            Iterates over the training data in order: the logits of the trained network in evaluation mode, and their batch.

        Returns
        -------
        int
        """
        return 0

    def for_labels(self, labels: ComplementaryLabels) -> "Method":
        """Return the trained method for rows with other labels; by default itself, as most methods only read the batch."""
        return self

    def learned_priors(self) -> Tensor | None:
        """Return the learned class priors, or None."""
        return None

    def regularize_priors(self, priors: Tensor, labels: ComplementaryLabels) -> Tensor:
        """Return learned priors as they are used after training; by default unchanged.

        Override it if training does not keep learned priors within what the labels allow.

        Parameters
        ----------
        priors : Tensor of shape (q,)
            `learned_priors`, on the CPU in float64.
        labels : ComplementaryLabels
            The labels of the training data.
        """
        return priors

    def learned_error_rates(self) -> tuple[float, float] | None:
        """Return the mean false-negative and false-positive rate of answers, if they were learned; else None."""
        return None

    def with_error_rates(
        self, labels: ComplementaryLabels, false_negative: float, false_positive: float
    ) -> "Method":
        """Return the method to evaluate with: if it learns error rates, one that is given these instead; else itself.

        Parameters
        ----------
        labels : ComplementaryLabels
            The labels of all rows, training rows included.
        false_negative, false_positive : float
            P("no" | it is the class) and P("yes" | it is not).
        """
        return self

    def fitted_attributes(self) -> dict[str, NDArray[Any]]:
        """Return what a fitted classifier shows of the method, by the names of its attributes; nothing by default."""
        return {}

    def extra_state(self) -> dict[str, Any]:
        """Return what predictions need besides `prediction_state` and is not a tensor, as JSON can hold it."""
        return {}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Load an `extra_state`; after `restore`."""

    def epoch_log(self) -> dict[str, float | list[float]]:
        """Return what the history records for an epoch in addition to the loss; nothing by default."""
        return {}

    def scores(self, logits: Tensor) -> Tensor:
        """Return scores of shape (n, q) whose arg-max is the predicted class; the logits by default."""
        return logits

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return class probabilities of shape (n, q) with the arg-max of the scores; by default the softmax of the scores."""
        scores = self.scores(logits)
        return break_ties_by_score(scores, torch.softmax(scores, dim=1))

    def prediction_state(self) -> dict[str, Tensor]:
        """Return the part of the state that `scores` and `probabilities` need; by default all of it."""
        return self.state_dict()

    def restore(self, state: dict[str, Tensor]) -> None:
        """Load a `prediction_state` of any shapes, without calling `prepare`."""
        modules = dict(self.named_modules())
        for name, value in state.items():
            owner, _, leaf = name.rpartition(".")
            is_weight = leaf in dict(modules[owner].named_parameters())
            if not is_weight and leaf not in dict(modules[owner].named_buffers()):
                raise ValueError(f"{self.facts.name} has no tensor {name!r}")
            setattr(modules[owner], leaf, nn.Parameter(value) if is_weight else value)

    def extra_repr(self) -> str:
        """Show the parameters."""
        return ", ".join(f"{name}={value!r}" for name, value in self.params.items())
