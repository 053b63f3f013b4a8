"""The likelihood of exclusions under SCAR, with class priors and error rates learned during training."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from scarce._validation import check_number, renamed_parameters
from scarce.errors import MethodError
from scarce.labels._single_label import is_single_label
from scarce.methods._labeling import labeled_rates, was_labeled
from scarce.methods._learned_priors import PriorRegularizer
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import register
from scarce.risk import (
    LogRatios,
    clamp_confirmed,
    exclusion_probabilities,
    marginal_nll,
    posterior,
    scar_log_likelihood,
    scar_ratios,
    single_label_ratios,
    single_label_weights,
)

_INITIAL_ERROR_RATE = 0.05  # of a learned error rate; from zero it could never rise
_UPDATE_EVERY = 8  # steps between two updates of the exclusion probabilities


@register
@renamed_parameters(errors="error_rate")
class ScarLikelihood(Method):
    """−mean log Σ_y p_y r_y(ȳ_y), p = softmax(f); the ratios r are those of `scarce.risk.scar_likelihood`.

    Maximum likelihood of the exclusions under SCAR. If the labels are one excluded class per example, the likelihood is
    conditional on that, and examples without a label do not count. Unknown priors π are learned by EM: they are the mean
    over the rows of the posterior q_y ∝ p_y r_y(ȳ_y), shrunk toward the candidate shares and clipped to what the labels
    allow (`scarce.methods._learned_priors`). The exclusion probabilities c follow from π. A confirmed class counts as
    certain.

    Parameters
    ----------
    error_rate : float, sequence of float or "learn"
        ρ, the probability that an example excludes its own class: one number for all classes, or one per class. With
        ``"learn"``, one number is learned by EM as the mean of Σ_y q_y ȳ_y.

    Attributes
    ----------
    priors : Tensor of shape (q,)
        π, given or learned.
    exclusion_probabilities : Tensor of shape (q,)
        c_k = P(k is excluded | y ≠ k), or with one label per example the weights w of `scarce.risk.scar_likelihood`.

    See Also
    --------
    Scarce : The unbiased risk under the same assumption.
    Refine : Allows exclusions that depend on the true class.
    AnswersLikelihood : For yes/no answers to recorded questions.
    scarce.functional.scar_nll : The loss as a function.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scar-likelihood", error_rate=0.05).params
    {'error_rate': 0.05}
    """

    facts = MethodFacts(
        "scar-likelihood", "SCAR likelihood", "this project", "SCAR", learns_priors=True, revision=2
    )

    renamed_state = MappingProxyType({"chances": "exclusion_probabilities"})

    rates: Tensor
    priors: Tensor
    exclusion_probabilities: Tensor
    error_rate: Tensor
    step: Tensor
    _regularizer: PriorRegularizer

    def __init__(self, error_rate: float | Sequence[float] | Literal["learn"] = 0.0) -> None:
        error_rate = error_rate.tolist() if isinstance(error_rate, np.ndarray) else error_rate
        super().__init__(error_rate=error_rate)
        if isinstance(error_rate, str):
            if error_rate != "learn":
                raise MethodError(
                    f"error_rate={error_rate!r}; expected a number from 0 to 1, one per class, or 'learn'."
                )
        else:
            for value in error_rate if isinstance(error_rate, Sequence) else (error_rate,):
                check_number("error_rate", value, high=1)
        self.learns_error_rate = error_rate == "learn"
        self.learns_priors = False
        self.single_label = False
        self.n_rows = 0
        self._posterior = torch.empty(0)
        for name in ("rates", "priors", "exclusion_probabilities", "error_rate"):
            self.register_buffer(name, torch.empty(0))
        self.register_buffer("step", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Compute rates and initial priors; decide whether the likelihood is conditional on one label per example."""
        super().prepare(problem)
        q = problem.n_classes
        self.learns_priors = problem.priors is None
        self.single_label = is_single_label(problem.labels)
        self.n_rows = problem.n_examples
        self._regularizer = PriorRegularizer.from_labels(problem.labels)
        self.rates = labeled_rates(problem.labels, self.single_label)
        # Equal priors may violate π_k ≤ 1 − π̄_k, and c_k would then stay at 1; these priors never do.
        self.priors = (
            (1 - self.rates) / (1 - self.rates).sum() if problem.priors is None else problem.priors.clone()
        )
        initial = _INITIAL_ERROR_RATE if self.learns_error_rate else self.params["error_rate"]
        error_rate = torch.as_tensor(initial, dtype=self.rates.dtype)
        if error_rate.dim() and len(error_rate) != q:
            raise MethodError(
                f"error_rate has {len(error_rate)} numbers; expected one, or {q}, one per class."
            )
        self.error_rate = error_rate.expand(q).clone()
        self.exclusion_probabilities = torch.empty(0)
        self.step.zero_()
        self._update_exclusion_probabilities()

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_y p_y r_y."""
        log_likelihood = scar_log_likelihood(batch.excluded, self._ratios())
        if self.single_label:  # a row without a label carries no information
            log_likelihood = log_likelihood * (batch.excluded > 0).any(dim=1, keepdim=True)
        log_likelihood = clamp_confirmed(log_likelihood, batch.confirmed)
        if self.learns_priors or self.learns_error_rate:
            self._posterior = posterior(logits.detach(), log_likelihood)
        return marginal_nll(logits, log_likelihood).mean()

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Update π and ρ as moving averages over about one epoch; update c every few steps."""
        if not (self.learns_priors or self.learns_error_rate):
            return
        weight = len(batch.excluded) / self.n_rows
        if self.learns_priors:
            shrunk = self._regularizer.shrink(self._posterior.mean(dim=0))
            self.priors += weight * (shrunk - self.priors)
            self.priors = self._regularizer.clip(self.priors, self.error_rate)
        if self.learns_error_rate:
            error_probabilities = (self._posterior * batch.excluded).sum(dim=1)[
                was_labeled(batch.excluded, batch.confirmed, self.single_label)
            ]
            if len(error_probabilities):
                self.error_rate += weight * (error_probabilities.mean() - self.error_rate)
        self.step += 1
        if self.step % _UPDATE_EVERY == 0:
            self._update_exclusion_probabilities()

    def learned_priors(self) -> Tensor | None:
        """π."""
        return self.priors

    def epoch_log(self) -> dict[str, float | list[float]]:
        """Return what was learned: priors, c (w with one label per example) and ρ."""
        learned: dict[str, float | list[float]] = {}
        if self.learns_priors or self.learns_error_rate:
            learned["exclusion_probabilities"] = self.exclusion_probabilities.tolist()
        if self.learns_priors:
            learned["priors"] = self.priors.tolist()
        if self.learns_error_rate:
            learned["error_rate"] = self.error_rate[0].item()
        return learned

    def _ratios(self) -> LogRatios:
        return (single_label_ratios if self.single_label else scar_ratios)(
            self.exclusion_probabilities, self.error_rate
        )

    def _update_exclusion_probabilities(self) -> None:
        if not self.single_label:
            self.exclusion_probabilities = exclusion_probabilities(self.rates, self.priors, self.error_rate)
        elif len(self.exclusion_probabilities):
            self.exclusion_probabilities = single_label_weights(
                self.rates, self.priors, self.error_rate, self.exclusion_probabilities, steps=5
            )
        else:
            self.exclusion_probabilities = single_label_weights(self.rates, self.priors, self.error_rate)
