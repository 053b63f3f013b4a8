"""The likelihood of yes/no answers; it needs neither class priors nor a model of how questions were chosen."""

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scarce._arrays import csr_positions
from scarce._io.schema import list_of, text
from scarce._validation import check_number, renamed_parameters
from scarce.labels import Answers, ComplementaryLabels
from scarce.labels.answers import SKIP, YES
from scarce.methods._learned_priors import PriorRegularizer
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import register
from scarce.risk import answer_log_likelihood, clamp_confirmed, marginal_nll, posterior

_RATE_NAMES = ("false_negative_rate", "false_positive_rate")
_INITIAL_RATE = 0.05  # of learned rates; from zero they could never rise
_POOLED_STRENGTH = 20.0  # how many answers the pooled rate counts for in the rate of one annotator
_ZERO_STRENGTH = 20.0  # how many answers, one of them wrong, are added to the pooled counts
_RATE_RANGE = 0.002, 0.45  # of learned rates: nobody is infallible or worse than chance
_MIN_EVALUATION_RATE = 0.02  # nobody is certain, and one wrong answer must not decide


@register
@renamed_parameters(miss="false_negative_rate", false="false_positive_rate")
class AnswersLikelihood(Method):
    """−mean log Σ_y p_y Π_{asked k} P(answer_k | y), p = softmax(f).

    Maximum likelihood of the answers to "is it class k?", which needs a table of what was asked. How the questions were
    chosen does not matter, as long as the choice depended only on observed data: the example, earlier answers, a model.
    If an example without answers has a confirmed class (an ordinary label), that class counts as certain.

    Parameters
    ----------
    false_negative_rate, false_positive_rate : float, optional
        P("no" | it is the class) and P("yes" | it is not). By default both are learned by EM for every annotator, with a
        prior that favors small rates; see `after_epoch`.

    Attributes
    ----------
    annotators : array of shape (a,)
        The annotators, in the order of the learned rates.
    priors : Tensor of shape (q,)
        The learned class priors.

    See Also
    --------
    ScarLikelihood, Refine : For exclusions without a record of what was asked.
    scarce.functional.answers_nll : The loss as a function.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("answers", false_negative_rate=0.1).params
    {'false_negative_rate': 0.1, 'false_positive_rate': None}
    """

    facts = MethodFacts(
        "answers",
        "likelihood of answers",
        "this project",
        "recorded questions",
        learns_priors=True,
        needs_answers=True,
        revision=2,
    )
    loss_is_likelihood = True

    priors: Tensor
    false_negative_rate: Tensor
    false_positive_rate: Tensor
    sums: Tensor
    _regularizer: PriorRegularizer

    def __init__(
        self, false_negative_rate: float | None = None, false_positive_rate: float | None = None
    ) -> None:
        super().__init__(false_negative_rate=false_negative_rate, false_positive_rate=false_positive_rate)
        for name, value in self.params.items():
            if value is not None:
                check_number(name, value, high=1)
        self.annotators: Any = np.empty(0)
        self.learned = tuple(name for name, value in self.params.items() if value is None)
        self._table = Answers.from_columns([], [], [])
        self._annotator_index = torch.empty(0)
        self._indptr = np.zeros(1, int)
        self._n_rows = 0
        self._posterior = torch.empty(0)
        self._asked: tuple[Tensor, ...] = ()
        for name in ("priors", *_RATE_NAMES, "sums"):
            self.register_buffer(name, torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Read the table of answers; set the initial priors and rates."""
        super().prepare(problem)
        self.priors = torch.full((problem.n_classes,), 1 / problem.n_classes, dtype=torch.float64)
        table = problem.labels.answers
        self.annotators = np.unique([] if table is None else table.annotator)
        self._set_answers(problem.labels)
        self._regularizer = PriorRegularizer.from_labels(problem.labels)
        for name in _RATE_NAMES:
            value = _INITIAL_RATE if name in self.learned else self.params[name] or 0.0
            setattr(self, name, torch.full((len(self.annotators),), value, dtype=torch.float64))
        self.sums = torch.zeros(4, len(self.annotators), dtype=torch.float64)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_y p_y Π P(answer | y)."""
        positions, lengths = csr_positions(self._indptr, batch.index.numpy())
        answered = self._table.answer[positions] != SKIP
        positions, row = positions[answered], np.repeat(np.arange(len(lengths)), lengths)[answered]
        device = logits.device
        row_and_class = (
            torch.from_numpy(row).to(device),
            torch.from_numpy(self._table.class_index[positions].astype(np.int64)).to(device),
        )
        yes = torch.from_numpy(self._table.answer[positions] == YES).to(device)
        annotator = self._annotator_index[positions].to(device)
        log_likelihood, constant = answer_log_likelihood(
            (len(logits), logits.shape[1]),
            *row_and_class,
            yes,
            *(getattr(self, name)[annotator].to(logits) for name in _RATE_NAMES),
        )
        unasked = torch.ones(len(logits), dtype=torch.bool, device=device).index_fill(
            0, row_and_class[0], False
        )
        if batch.confirmed is not None:
            log_likelihood = clamp_confirmed(log_likelihood, torch.where(unasked, batch.confirmed, -1))
        self._posterior, self._asked = (
            posterior(logits.detach(), log_likelihood),
            (*row_and_class, yes, annotator),
        )
        return (marginal_nll(logits, log_likelihood) - constant).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Update π as a moving average over about one epoch, and add up the expected errors of the annotators."""
        posteriors = self._posterior.to(self.priors)
        shrunk = self._regularizer.shrink(posteriors.mean(dim=0))
        self.priors += len(posteriors) / self._n_rows * (shrunk - self.priors)
        max_false_negative_rate = torch.cat(
            [self.priors.new_zeros(1), self.false_negative_rate.to(self.priors)]
        ).max()
        self.priors = self._regularizer.clip(self.priors, max_false_negative_rate)
        if self.learned:
            row, asked, yes, annotator = self._asked
            is_class = posteriors[row, asked]
            for index, weights in enumerate((is_class * ~yes, is_class, (1 - is_class) * yes, 1 - is_class)):
                self.sums[index].index_add_(0, annotator, weights)

    def after_epoch(self, epoch: int) -> None:
        """Set the rates to (wrong + 20 r) / (asked + 20), with r = (Σ wrong + 1) / (Σ asked + 20) over all annotators.

        The rate of each annotator is shrunk toward the pooled rate r, and r toward zero. Rates are clamped to [0.002, 0.45].
        """
        if not self.learned:
            return
        for name, (wrong, asked) in zip(_RATE_NAMES, (self.sums[:2], self.sums[2:]), strict=True):
            if name in self.learned:
                pooled_rate = (wrong.sum() + 1) / (asked.sum() + _ZERO_STRENGTH)
                rates = (wrong + _POOLED_STRENGTH * pooled_rate) / (asked + _POOLED_STRENGTH)
                setattr(self, name, rates.clamp(*_RATE_RANGE))
        self.sums.zero_()

    def for_labels(self, labels: ComplementaryLabels) -> "AnswersLikelihood":
        """Return a view of the method that uses the answers of `labels`, ignoring those of unknown annotators."""
        view = copy(self)
        view._set_answers(labels)
        return view

    def with_error_rates(
        self, labels: ComplementaryLabels, false_negative: float, false_positive: float
    ) -> "AnswersLikelihood":
        """Return a prepared method with these rates in place of those that are learned, none below 0.02."""
        rates = dict(zip(_RATE_NAMES, (false_negative, false_positive), strict=True))
        given = {name: value for name, value in self.params.items() if value is not None}
        fixed = AnswersLikelihood(
            **({name: max(rate, _MIN_EVALUATION_RATE) for name, rate in rates.items()} | given)
        )
        fixed.prepare(Problem(labels))
        return fixed

    def learned_error_rates(self) -> tuple[float, float] | None:
        """Return the `mean_error_rates` if a rate was learned; else None."""
        return self.mean_error_rates() if self.learned else None

    def extra_state(self) -> dict[str, Any]:
        """Return the names of the annotators, in the order of the rates."""
        return {"annotators": self.annotators.tolist()}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Take the names of the annotators, one per error rate."""
        list_of(text, len(self.false_negative_rate))(state.get("annotators"), "annotators")
        self.annotators = np.array(state["annotators"], dtype=str)

    def mean_error_rates(self) -> tuple[float, float]:
        """Return the false-negative and false-positive rates, averaged over the answers; 0 without annotators."""
        if not len(self.annotators):
            return 0.0, 0.0
        counts = torch.bincount(self._annotator_index.long(), minlength=len(self.annotators)).double()
        weights = (
            counts / counts.sum() if len(self._annotator_index) else torch.full_like(counts, 1 / len(counts))
        )
        rates = (getattr(self, name).double().cpu() for name in _RATE_NAMES)
        false_negative_rate, false_positive_rate = ((weights * rate).sum().item() for rate in rates)
        return false_negative_rate, false_positive_rate

    def learned_priors(self) -> Tensor | None:
        """Return π, the mean posterior of the rows."""
        return self.priors

    def epoch_log(self) -> dict[str, float | list[float]]:
        """Return the priors, and the learned rates, one per annotator in the order of `annotators`."""
        return {name: getattr(self, name).tolist() for name in ("priors", *self.learned)}

    def _set_answers(self, labels: ComplementaryLabels) -> None:
        """Store the answers of known annotators about the rows of `labels`."""
        table = Answers.from_columns([], [], []) if labels.answers is None else labels.answers
        is_known = np.isin(table.annotator, self.annotators)
        self._table = Answers(
            table.example[is_known],
            table.class_index[is_known],
            table.answer[is_known],
            table.annotator[is_known],
        )
        self._annotator_index = torch.from_numpy(np.searchsorted(self.annotators, self._table.annotator))
        self._indptr = np.searchsorted(self._table.example, np.arange(labels.n_examples + 1))
        self._n_rows = labels.n_examples
