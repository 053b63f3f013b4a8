"""The likelihood of yes/no answers, which needs to know neither how questions were chosen nor the class priors."""

from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scarce._arrays import csr_positions
from scarce._validation import check_number, renamed_parameters
from scarce.labels import Answers, ComplementaryLabels
from scarce.labels.answers import SKIP, YES
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.learned_priors import LearnedPriors
from scarce.methods.registry import register
from scarce.risk import answer_log_likelihood, clamp_confirmed, marginal_nll, posterior

__all__ = ["AnswersLikelihood"]

_RATES = ("false_negative_rate", "false_positive_rate")
_FIRST_GUESS = 0.05  # of rates that are learned; from zero they could not rise
_TOWARDS_ALL = 20.0  # answers that the rate of all annotators counts for in the rate of one
_TOWARDS_ZERO = 20.0  # answers that are added to those of all annotators; one of them is wrong
_RATE_RANGE = 0.002, 0.45  # of learned rates: nobody is certain, and nobody knows less than chance


@register
@renamed_parameters(miss="false_negative_rate", false="false_positive_rate")
class AnswersLikelihood(Method):
    """−mean log Σ_y p_y Π_{asked k} P(answer_k | y).

    Needs the record of what was asked. How the questions were chosen does not matter, as long as the choice depended
    only on what could be seen: the example, earlier answers, a model. Examples that nobody was asked about but whose class
    is confirmed (ordinary labels) count as certain.

    Parameters
    ----------
    false_negative_rate, false_positive_rate : float, optional
        P("no" | it is the class) and P("yes" | it is not). By default both are learned by EM for every annotator, with a
        prior that favours small rates; see `after_epoch`.

    Attributes
    ----------
    annotators : array of shape (a,)
        Who answered.

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
    _shares: LearnedPriors

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
        self._who = torch.empty(0)
        self._indptr = np.zeros(1, int)
        self._n_rows = 0
        self._posterior = torch.empty(0)
        self._asked: tuple[Tensor, ...] = ()
        for name in ("priors", *_RATES, "sums"):
            self.register_buffer(name, torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Take the table of answers."""
        super().prepare(problem)
        self.priors = torch.full((problem.n_classes,), 1 / problem.n_classes, dtype=torch.float64)
        table = problem.labels.answers
        self.annotators = np.unique([] if table is None else table.annotator)
        self._read(problem.labels)
        self._shares = LearnedPriors.of(problem.labels)
        for name in _RATES:
            value = _FIRST_GUESS if name in self.learned else self.params[name] or 0.0
            setattr(self, name, torch.full((len(self.annotators),), value, dtype=torch.float64))
        self.sums = torch.zeros(4, len(self.annotators), dtype=torch.float64)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_y p_y Π P(answer | y)."""
        positions, lengths = csr_positions(self._indptr, batch.index.numpy())
        said = self._table.answer[positions]
        positions, row = positions[said != SKIP], np.repeat(np.arange(len(lengths)), lengths)[said != SKIP]
        place = logits.device
        where = (
            torch.from_numpy(row).to(place),
            torch.from_numpy(self._table.class_index[positions].astype(np.int64)).to(place),
        )
        yes = torch.from_numpy(self._table.answer[positions] == YES).to(place)
        who = self._who[positions].to(place)
        log_likelihood, constant = answer_log_likelihood(
            (len(logits), logits.shape[1]),
            *where,
            yes,
            *(getattr(self, name)[who].to(logits) for name in _RATES),
        )
        unasked = torch.ones(len(logits), dtype=torch.bool, device=place).index_fill(0, where[0], False)
        if batch.confirmed is not None:
            log_likelihood = clamp_confirmed(log_likelihood, torch.where(unasked, batch.confirmed, -1))
        self._posterior, self._asked = posterior(logits.detach(), log_likelihood), (*where, yes, who)
        return (marginal_nll(logits, log_likelihood) - constant).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Let π follow the posterior, with a memory of about one epoch, and count who was probably wrong."""
        known = self._posterior.to(self.priors)
        found = self._shares.drawn(known.mean(dim=0))
        self.priors += len(known) / self._n_rows * (found - self.priors)
        missed = torch.cat([self.priors.new_zeros(1), self.false_negative_rate.to(self.priors)]).max()
        self.priors = self._shares.allowed(self.priors, missed)
        if self.learned:
            row, asked, yes, who = self._asked
            is_it = known[row, asked]
            for place, amount in enumerate((is_it * ~yes, is_it, (1 - is_it) * yes, 1 - is_it)):
                self.sums[place].index_add_(0, who, amount)

    def after_epoch(self, epoch: int) -> None:
        """Set the rates to (wrong + 20 r) / (asked + 20), with r = (Σ wrong + 1) / (Σ asked + 20) over all annotators.

        So the rate of one annotator is drawn towards that of all, and this towards zero. Rates stay from 0.002 to 0.45.
        """
        if not self.learned:
            return
        for name, (wrong, asked) in zip(_RATES, (self.sums[:2], self.sums[2:]), strict=True):
            if name in self.learned:
                of_all = (wrong.sum() + 1) / (asked.sum() + _TOWARDS_ZERO)
                rates = (wrong + _TOWARDS_ALL * of_all) / (asked + _TOWARDS_ALL)
                setattr(self, name, rates.clamp(*_RATE_RANGE))
        self.sums.zero_()

    def for_labels(self, labels: ComplementaryLabels) -> "AnswersLikelihood":
        """Return a view of the method that reads the answers about other rows, but for annotators it does not know."""
        other = copy(self)
        other._read(labels)
        return other

    def mean_error_rates(self) -> tuple[float, float]:
        """Return the mean false-negative and false-positive rate of the answers, as far as they are known."""
        if not len(self.annotators):
            return 0.0, 0.0
        counts = torch.bincount(self._who.long(), minlength=len(self.annotators)).double()
        weights = counts / counts.sum() if len(self._who) else torch.full_like(counts, 1 / len(counts))
        miss, false = ((weights * getattr(self, name).double().cpu()).sum().item() for name in _RATES)
        return miss, false

    def learned_priors(self) -> Tensor | None:
        """π: the mean of what is known of the classes of rows."""
        return self.priors

    def epoch_log(self) -> dict[str, float | list[float]]:
        """The priors, and the rates, one per annotator in the order of `annotators`, where they are learned."""
        return {name: getattr(self, name).tolist() for name in ("priors", *self.learned)}

    def _read(self, labels: ComplementaryLabels) -> None:
        """Take the answers about rows."""
        table = Answers.from_columns([], [], []) if labels.answers is None else labels.answers
        known = np.isin(table.annotator, self.annotators)
        self._table = Answers(
            table.example[known], table.class_index[known], table.answer[known], table.annotator[known]
        )
        self._who = torch.from_numpy(np.searchsorted(self.annotators, self._table.annotator))
        self._indptr = np.searchsorted(self._table.example, np.arange(labels.n_examples + 1))
        self._n_rows = labels.n_examples
