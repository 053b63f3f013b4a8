"""Mechanisms, the models of how labels arise: each gives the log-likelihood of the labels of a row given its class."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.labels import Answers, ComplementaryLabels
from scarce.labels.answers import SKIP, YES
from scarce.risk import (
    answer_log_likelihood,
    clamp_confirmed,
    class_conditional_log_likelihood,
    safe_log,
    scar_log_likelihood,
    scar_ratios,
    single_label_log_likelihood,
    single_label_ratios,
)


class Mechanism(Protocol):
    """A model of how labels arise, with all its parameters known."""

    @property
    def name(self) -> str:
        """The name of the mechanism."""

    def log_likelihood(self, labels: ComplementaryLabels) -> Tensor:
        """Return E of shape (n, q) in float64: E_iy = log P(labels of row i | class y), up to a constant per row."""


@dataclass(frozen=True)
class CandidateSets:
    """The labels are equally likely under every class that is not excluded: E = 0, and log 10⁻¹² for excluded classes.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([2], classes=3)
    >>> CandidateSets().log_likelihood(labels).exp().round(decimals=4).tolist()
    [[1.0, 1.0, 0.0]]
    """

    name: str = "candidate-sets"

    def log_likelihood(self, labels: ComplementaryLabels) -> Tensor:
        """Return E, of shape (n, q)."""
        return clamp_confirmed(safe_log(1 - excluded_tensor(labels)), confirmed_tensor(labels))


@dataclass(frozen=True)
class Scar:
    """Every wrong class k is excluded with probability c_k; with one label per row, class k ≠ y with probability ∝ w_k.

    See `scarce.risk.scar_likelihood`. With one label per row, rows without a label are uninformative.

    Attributes
    ----------
    exclusion_probabilities : tensor of shape (q,)
        c, or w if `single`.
    single : bool
        Whether a row has one label by design.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[2], []], classes=3)
    >>> Scar(torch.tensor([0.0, 0.5, 0.5]), single=False).log_likelihood(labels).exp().round(decimals=4).tolist()
    [[1.0, 2.0, 0.0], [1.0, 2.0, 2.0]]
    """

    exclusion_probabilities: Tensor
    single: bool
    name: str = "scar"

    def log_likelihood(self, labels: ComplementaryLabels) -> Tensor:
        """Return E, of shape (n, q)."""
        c = self.exclusion_probabilities.double()
        ratios = (single_label_ratios if self.single else scar_ratios)(c, torch.zeros_like(c))
        return _with_confirmed(scar_log_likelihood(excluded_tensor(labels), ratios), labels, self.single)


@dataclass(frozen=True)
class ClassConditional:
    """A row of class y excludes k with probability C[y, k]; with one label per row, the rows of C sum to one.

    Attributes
    ----------
    exclusion_probabilities : tensor of shape (q, q)
        C.
    single : bool
        Whether a row has one label by design.

    Examples
    --------
    >>> C = torch.tensor([[0.0, 0.9, 0.1], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    >>> labels = ComplementaryLabels.from_single([2], classes=3)
    >>> ClassConditional(C, single=True).log_likelihood(labels).exp().round(decimals=4).tolist()
    [[0.1, 0.5, 0.0]]
    """

    exclusion_probabilities: Tensor
    single: bool
    name: str = "class-conditional"

    def log_likelihood(self, labels: ComplementaryLabels) -> Tensor:
        """Return E, of shape (n, q)."""
        likelihood = single_label_log_likelihood if self.single else class_conditional_log_likelihood
        return _with_confirmed(
            likelihood(excluded_tensor(labels), self.exclusion_probabilities.double()), labels, self.single
        )


@dataclass(frozen=True)
class AnswersWithErrors:
    """Answers to "is it class k?" by annotators with error rates P(no | y = k) and P(yes | y ≠ k).

    Skipped questions are uninformative. The class of a row without answers is certain if it is confirmed.

    Attributes
    ----------
    annotators : str array of shape (a,)
        The names of the annotators, sorted.
    false_negative_rates, false_positive_rates : tensors of shape (a,)
        The error rates of each annotator.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_answer_matrix([["no", ""], ["", "yes"]])
    >>> mechanism = AnswersWithErrors(np.array([""]), torch.tensor([0.1]), torch.tensor([0.2]))
    >>> mechanism.log_likelihood(labels).exp().round(decimals=4).tolist()  # 0.1 / 0.8 and 0.9 / 0.2
    [[0.125, 1.0], [1.0, 4.5]]
    """

    annotators: NDArray[Any]
    false_negative_rates: Tensor
    false_positive_rates: Tensor
    name: str = "answers"

    def log_likelihood(self, labels: ComplementaryLabels) -> Tensor:
        """Return E, of shape (n, q)."""
        table = given_answers(labels)
        who = torch.from_numpy(np.searchsorted(self.annotators, table.annotator))
        rows, asked = (
            torch.from_numpy(table.example.copy()),
            torch.from_numpy(table.class_index.astype(np.int64)),
        )
        rates = self.false_negative_rates.double()[who], self.false_positive_rates.double()[who]
        log_likelihood, _ = answer_log_likelihood(
            labels.shape, rows, asked, torch.from_numpy(table.answer == YES), *rates
        )
        unasked = torch.ones(len(labels), dtype=torch.bool).index_fill(0, rows, False)
        return clamp_confirmed(log_likelihood, torch.where(unasked, confirmed_tensor(labels), -1))


def given_answers(labels: ComplementaryLabels) -> Answers:
    """Return the recorded answers without skipped questions.

    Examples
    --------
    >>> len(given_answers(ComplementaryLabels.from_answer_matrix([["no", "skip"]])))
    1
    """
    table = labels.answers
    if table is None:
        return Answers.from_columns([], [], [])
    given = table.answer != SKIP
    return Answers(
        table.example[given], table.class_index[given], table.answer[given], table.annotator[given]
    )


def _with_confirmed(log_likelihood: Tensor, labels: ComplementaryLabels, single: bool) -> Tensor:
    if single:
        log_likelihood = log_likelihood * torch.from_numpy(labels.per_example > 0)[:, None]
    return clamp_confirmed(log_likelihood, confirmed_tensor(labels))


def excluded_tensor(labels: ComplementaryLabels) -> Tensor:
    """Return the indicator of excluded classes, of shape (n, q), in float64."""
    return torch.from_numpy(labels.indicator(dtype=np.float64))


def confirmed_tensor(labels: ComplementaryLabels) -> Tensor:
    """Return the index of the confirmed class of every row, of shape (n,); −1 if there is none."""
    return torch.from_numpy(labels.confirmed.astype(np.int64))
