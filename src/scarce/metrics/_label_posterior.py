"""The posterior of class priors and error rates given labels under SCAR, by Laplace's approximation.

The prior over exclusion probabilities is a mixture of two components: nearly equal ones, and unequal ones. Draws come from both
in proportion to their posterior probability. Each component is approximated by Student's t distribution around its mode.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce._arrays import FloatArray, IntArray
from scarce.labels import ComplementaryLabels
from scarce.labels._candidate_shares import candidate_shares
from scarce.labels._single_label import is_single_label
from scarce.labels.answers import SKIP, YES
from scarce.metrics._laplace import Normal, laplace, mean_penalty, sigmoid
from scarce.metrics.intervals import wilson_interval
from scarce.risk import answer_log_likelihood, clamp_confirmed

_MAX_DRAWS, _MAX_DRAWN_NUMBERS = 1000, 100_000  # draws, and draws times classes
# More rows would hardly improve the posterior.
_MAX_ROWS, _MAX_ROWS_TIMES_Q2 = 20_000, 2_000_000
_MAX_CLASSES = 60  # with more, each prior matters little, so draw them around the candidate shares
_DIRICHLET_CONCENTRATION = 0.5  # of the Dirichlet distribution over priors
# Standard deviations of the log-odds of exclusion probabilities in the two components.
_EQUAL_LOGIT_SD, _UNEQUAL_LOGIT_SD = 0.05, 0.7
_MIN_UNEQUAL_FRACTION = 0.35  # of the draws, even if exclusion probabilities look equal
# The prior of error rates is normal on the logit scale: 0.4 % to 18 %.
_TYPICAL_ERROR_RATE, _ERROR_LOGIT_SD = 0.03, 1.0
_CAP_LEVEL = 0.99  # of the interval of 1 − r, whose upper bound is an upper bound of the prior
_EPS = 1e-9
_IMPOSSIBLE_LOG_LIKELIHOOD = -50.0  # of events of probability zero


def n_draws(n_classes: int) -> int:
    """Return the number of draws m: 1000, or fewer for many classes.

    Examples
    --------
    >>> n_draws(10), n_draws(1000)
    (1000, 100)
    """
    return max(100, min(_MAX_DRAWS, _MAX_DRAWN_NUMBERS // n_classes))


def draw_error_rates(
    labels: ComplementaryLabels, learned: tuple[float, float] | None, rng: np.random.Generator
) -> FloatArray:
    """Draw error rates from their posterior given all answers, with the log-likelihood Σ_i log Σ_y π_y Π P(answers of i | y).

    A fraction of the draws, the posterior probability that there are no errors, is zero, unless rates were learned before.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels with answers.
    learned : (float, float) or None
        False-negative and false-positive rate learned from other answers of the same annotators; the center of their prior.
    rng : Generator
        The random numbers.

    Returns
    -------
    array of shape (m, 2)
        False-negative and false-positive rates.
    """
    sample = _subsample(labels, rng)
    assert sample.answers is not None
    is_answered = sample.answers.answer != SKIP
    rows, asked = (
        torch.from_numpy(column[is_answered].astype(np.int64))
        for column in (sample.answers.example, sample.answers.class_index)
    )
    yes = torch.from_numpy(sample.answers.answer[is_answered] == YES)
    q, m, m_draws = labels.n_classes, len(rows), n_draws(labels.n_classes)
    center = (
        torch.tensor(learned or (_TYPICAL_ERROR_RATE, _TYPICAL_ERROR_RATE), dtype=torch.float64)
        .clamp(0.01, 0.45)
        .logit()
    )

    def log_posterior(log_pi: Tensor, false_negative: Tensor, false_positive: Tensor) -> Tensor:
        e, constant = answer_log_likelihood(
            sample.shape, rows, asked, yes, false_negative.expand(m), false_positive.expand(m)
        )
        return ((e + log_pi).logsumexp(dim=1) + constant).sum() + _DIRICHLET_CONCENTRATION * log_pi.sum()

    log_yes_rates = torch.from_numpy(
        priors_from_yes_rates(labels, (0.0, 0.0), np.zeros((1, 2)), rng)[0]
    ).log()
    n_prior_params = q if q <= _MAX_CLASSES else 0

    def log_priors(theta: Tensor) -> Tensor:
        return theta[:q].log_softmax(dim=0) if n_prior_params else log_yes_rates

    def with_errors(theta: Tensor) -> Tensor:
        logits = theta[n_prior_params:]
        distance = ((logits - center) ** 2).sum() / (2 * _ERROR_LOGIT_SD**2) + 2 * np.log(_ERROR_LOGIT_SD)
        # The two error rates of an annotator are correlated.
        difference = (logits[0] - logits[1] - (center[0] - center[1])) ** 2 / 2
        penalty = distance + difference + mean_penalty(theta[:n_prior_params])
        loss: Tensor = penalty - log_posterior(log_priors(theta), *logits.sigmoid())
        return loss

    def without_errors(theta: Tensor) -> Tensor:
        zero = torch.zeros(1, dtype=torch.float64)
        return mean_penalty(theta) - log_posterior(log_priors(theta), zero, zero)

    equal = torch.zeros(n_prior_params, dtype=torch.float64)
    found = laplace(with_errors, torch.cat([equal, center]))
    n_without = 0
    if learned is None:
        n_without = round(m_draws * sigmoid(laplace(without_errors, equal).log_evidence - found.log_evidence))
    draws = (1 / (1 + np.exp(-found.draw(m_draws - n_without, rng)[:, n_prior_params:]))).clip(0, 0.49)
    return np.concatenate([np.zeros((n_without, 2)), draws])


def priors_from_yes_rates(
    labels: ComplementaryLabels,
    errors: tuple[float, float],
    error_draws: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """π_k = (yes_k / asked_k − fp) / (1 − fn − fp), scaled to sum to one: return π of shape (q,) and m draws of it, (m, q)."""
    assert labels.answers is not None
    yes, no = labels.answers.counts(labels.n_classes)
    unasked = yes + no == 0
    yes_rate_draws = rng.beta(yes + 0.5, no + 0.5, (n_draws(labels.n_classes), labels.n_classes))

    def priors(yes_rates: FloatArray, false_negative: Any, false_positive: Any) -> FloatArray:
        found = np.maximum((yes_rates - false_positive) / (1 - false_negative - false_positive), _EPS)
        # Classes without questions share the remaining probability, but at least 1/q.
        found = np.where(unasked, 0, found)
        remaining = np.maximum(1 - found.sum(axis=-1, keepdims=True), 1 / labels.n_classes) / max(
            unasked.sum(), 1
        )
        found = np.where(unasked, remaining, found)
        return found / found.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]

    values = priors(yes / np.maximum(yes + no, 1), *errors)
    return values, priors(yes_rate_draws, error_draws[:, :1], error_draws[:, 1:])


def draw_priors(labels: ComplementaryLabels, error_rate: float, rng: np.random.Generator) -> FloatArray:
    """Draw class priors of shape (m, q) from both components of their posterior given exclusions."""
    q, single = labels.n_classes, is_single_label(labels)
    if q > _MAX_CLASSES:
        return rng.dirichlet(
            _DIRICHLET_CONCENTRATION * q * np.maximum(candidate_shares(labels), _EPS), n_draws(q)
        )
    log_likelihood = (
        single_label_log_likelihood(labels, error_rate)
        if single
        else exclusion_log_likelihood(_subsample(labels, rng), error_rate)
    )
    mean_c = np.clip(labels.rates.mean() * q / (q - 1), 1e-4, 1 - 1e-4)
    start = torch.zeros(2 * q, dtype=torch.float64)
    if not single:
        start[q:] = float(np.log(mean_c / (1 - mean_c)))

    def posterior(spread: float) -> Normal:
        def loss(theta: Tensor) -> Tensor:
            log_pi, logits = theta[:q].log_softmax(dim=0), theta[q:]
            inequality = ((logits - logits.mean()) ** 2).sum() / (2 * spread**2) + q * np.log(spread)
            penalty = mean_penalty(theta[:q]) + (mean_penalty(logits) if single else 0.0)
            log_prior = _DIRICHLET_CONCENTRATION * log_pi.sum()
            value: Tensor = -log_likelihood(log_pi, logits) - log_prior + inequality + penalty
            return value

        return laplace(loss, start)

    equal, unequal, m_draws = posterior(_EQUAL_LOGIT_SD), posterior(_UNEQUAL_LOGIT_SD), n_draws(q)
    n_equal = round(
        m_draws * min(sigmoid(equal.log_evidence - unequal.log_evidence), 1 - _MIN_UNEQUAL_FRACTION)
    )
    samples = np.concatenate([equal.draw(n_equal, rng), unequal.draw(m_draws - n_equal, rng)])[:, :q]
    draws = torch.from_numpy(samples).softmax(dim=1).numpy()
    # Of the examples of class k, a fraction 1 − ρ does not exclude it, so π_k ≤ (1 − r_k) / (1 − ρ), up to sampling error in r.
    _, max_not_excluded = wilson_interval(
        len(labels) - labels.counts.astype(float), np.full(q, float(len(labels))), _CAP_LEVEL
    )
    return cap_distributions(draws, np.clip(max_not_excluded / (1 - error_rate), _EPS, 1))


def cap_distributions(draws: FloatArray, caps: FloatArray) -> FloatArray:
    """Cap distributions of shape (m, q) at `caps` of shape (q,), whose sum is at least one, and scale up the other classes."""
    for _ in caps:
        draws = np.minimum(np.maximum(draws, _EPS), caps)
        free = np.where(draws < caps, draws, 0.0)
        excess = 1 - draws.sum(axis=1, keepdims=True)
        draws = draws + excess * free / np.maximum(free.sum(axis=1, keepdims=True), _EPS)
    draws = np.clip(draws, _EPS, caps)
    return draws / draws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def exclusion_log_likelihood(
    labels: ComplementaryLabels, error_rate: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """Σ_i [Σ_k log P(ȳ_ik | y_i ≠ k) + log Σ_y π_y P(ȳ_iy | y_i = y) / P(ȳ_iy | y_i ≠ y)], given log π and logit c, both (q,)."""
    distinct, confirmed_codes, times = _distinct_rows(labels)
    excluded = torch.from_numpy(distinct)
    is_labeled = torch.from_numpy(distinct.any(axis=1) | (confirmed_codes < 0))[:, None]
    confirmed, weights = torch.from_numpy(confirmed_codes), torch.from_numpy(times)
    counts = torch.from_numpy(labels.counts.astype(np.float64))
    n_labeled = float((weights * is_labeled[:, 0]).sum())

    def value(log_pi: Tensor, logits: Tensor) -> Tensor:
        log_c, log_not = torch.nn.functional.logsigmoid(logits), torch.nn.functional.logsigmoid(-logits)
        base = counts @ log_c + (n_labeled - counts) @ log_not
        true_class = (
            _IMPOSSIBLE_LOG_LIKELIHOOD * torch.ones_like(log_c)
            if error_rate == 0
            else np.log(error_rate) - log_c
        )
        log_likelihood = torch.where(
            excluded, true_class, torch.where(is_labeled, np.log1p(-error_rate) - log_not, 0.0)
        )
        correction = torch.where(confirmed >= 0, (-log_not)[confirmed] * is_labeled[:, 0], 0.0)
        rows = (clamp_confirmed(log_likelihood, confirmed) + log_pi).logsumexp(dim=1) + correction
        return base + weights @ rows

    return value


def _distinct_rows(labels: ComplementaryLabels) -> tuple[NDArray[np.bool_], IntArray, FloatArray]:
    """Return the distinct rows of exclusions, their confirmed classes, and how often each occurs."""
    excluded, confirmed = labels.indicator(), labels.confirmed.astype(np.int64)
    packed = np.concatenate([np.packbits(excluded, axis=1), confirmed.view(np.uint8).reshape(-1, 8)], axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return excluded[first], confirmed[first], times.astype(float)


def single_label_log_likelihood(
    labels: ComplementaryLabels, error_rate: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """Σ_k n_k log [(1 − ρ) Σ_{y ≠ k} π_y w_k / (W − w_y) + ρ π_k] with W = Σ_k w_k, given log π and log w, both of shape (q,)."""
    counts = torch.from_numpy(labels.counts.astype(np.float64))
    known = labels.confirmed[labels.confirmed >= 0]
    confirmed = torch.from_numpy(np.bincount(known, minlength=labels.n_classes).astype(np.float64))
    others = 1 - torch.eye(labels.n_classes, dtype=torch.float64)

    def value(log_pi: Tensor, logits: Tensor) -> Tensor:
        w = logits.softmax(dim=0)
        pi = log_pi.exp()
        rates = (1 - error_rate) * w * (others @ (pi / (others @ w))) + error_rate * pi
        return counts @ rates.clamp(min=1e-300).log() + confirmed @ log_pi

    return value


def _subsample(labels: ComplementaryLabels, rng: np.random.Generator) -> ComplementaryLabels:
    n_rows = int(np.clip(_MAX_ROWS_TIMES_Q2 / labels.n_classes**2, 1000, _MAX_ROWS))
    if len(labels) <= n_rows:
        return labels
    return labels[np.sort(rng.permutation(len(labels))[:n_rows])]
