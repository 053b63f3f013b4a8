"""How labels arise, as far as judging a classifier needs it; never learned from the classifier that is judged.

For a class k let c_k be the probability that an example of another class is said not to be k, and ρ_k the probability that an
example of class k is. Labels that depend on an example only through its class are said of it at the rate

    r_k = c_k (1 − π_k) + ρ_k π_k.

Answers to random questions tell all of it but for the errors: c = 1 − P(yes | not k) and ρ = P(no | k). Exclusions leave a
choice: a class that is seldom excluded may be common, or seldom asked about. So the priors that go with exclusions are a
distribution, not a number: the posterior under SCAR, partly with exclusion probabilities that are alike and partly with unequal
ones, as the labels make either probable. Around its modes it is taken as normal (Laplace's approximation), with heavier tails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce._arrays import FloatArray, IntArray
from scarce._validation import check_priors
from scarce.errors import MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import SKIP, YES
from scarce.labels.candidate_shares import candidate_shares
from scarce.labels.single_label import is_single_label
from scarce.metrics._laplace import Normal, hold, laplace, probability
from scarce.metrics.intervals import wilson_interval
from scarce.risk import answer_log_likelihood, clamp_confirmed

__all__ = [
    "ErrorRates",
    "LabelModel",
    "as_label_model",
    "check_error_rates",
    "fit_label_model",
    "has_random_answers",
]

_MOST_DRAWS, _DRAWN = 1000, 100_000  # draws, and numbers in all of them
# Beyond these, what more rows tell is not worth the time.
_MOST_ROWS, _MOST_WORK = 20_000, 2_000_000  # rows, and rows × q²
_MANY = (
    60  # classes beyond which priors are drawn around the candidate shares; each is small, and matters little
)
_CONCENTRATION = 0.5  # of the Dirichlet distribution over priors
# Standard deviations of log-odds of exclusion probabilities that are alike, or are not.
_EQUAL, _UNEQUAL = 0.05, 0.7
_ALWAYS_UNEQUAL = 0.35  # of the draws, however alike exclusion probabilities look
# Error rates before anything is known: 0.4 % to 18 %, on the scale of logits.
_USUAL_RATE, _SPREAD = 0.03, 1.0
_CAP = 0.99  # level of the interval of 1 − r that priors must not exceed
_LEAST = 1e-9
_IMPOSSIBLE = -50.0  # log-likelihood of what cannot happen


@dataclass(frozen=True)
class ErrorRates:
    """How often labels are wrong.

    Attributes
    ----------
    false_negative : float
        P("no" | it is the class). Of exclusions: the probability that an example excludes its own class.
    false_positive : float
        P("yes" | it is not the class); 0 where there are only exclusions.
    """

    false_negative: float
    false_positive: float

    def __post_init__(self) -> None:
        if (
            not (self.false_negative >= 0 <= self.false_positive)
            or self.false_negative + self.false_positive >= 1
        ):
            raise MethodError(
                f"the error rates are {self.false_negative} and {self.false_positive}; expected numbers of at least 0 with a "
                "sum below 1, such as 0.05 and 0.05."
            )


@dataclass(frozen=True, eq=False)
class LabelModel:
    """Class priors and error rates of labels, and draws that show how uncertain they are.

    Attributes
    ----------
    priors : array of shape (q,)
        π.
    errors : ErrorRates
        How often labels are wrong.
    source : {"given", "answers", "labels"}
        Where the priors come from: somebody gave them, the shares of "yes" among answers to random questions, or the likelihood of
        the labels.
    error_source : {"given", "learned", "none"}
        Where the error rates come from; with "none" every exclusion counts as right.
    prior_draws : array of shape (m, q)
        Priors that the labels leave possible, as often as they are probable.
    error_draws : array of shape (m, 2)
        The same of the error rates.
    """

    priors: FloatArray
    errors: ErrorRates
    source: str
    error_source: str
    prior_draws: FloatArray
    error_draws: FloatArray

    def prior_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the priors, class by class."""
        low, high = np.quantile(self.prior_draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def has_random_answers(labels: ComplementaryLabels) -> bool:
    """Return whether there are answers that tell priors: some of them are "yes".

    Examples
    --------
    >>> has_random_answers(ComplementaryLabels.from_answer_matrix([["no", ""], ["", "yes"]]))
    True
    """
    return labels.answers is not None and bool((labels.answers.answer == YES).any())


def fit_label_model(
    labels: ComplementaryLabels,
    priors: Any = None,
    *,
    errors: ErrorRates | None = None,
    learned_errors: ErrorRates | None = None,
    prior_interval: tuple[Any, Any] | None = None,
    seed: int = 0,
) -> LabelModel:
    """Find how labels arise, from the labels and from what is known, without any classifier.

    Parameters
    ----------
    labels : ComplementaryLabels
        Of the examples that a classifier is to be judged by.
    priors : array of q numbers, optional
        π, if it is known. By default it comes from the share of "yes" among answers, which are taken to be answers to random
        questions, and else from the likelihood of the exclusions.
    errors : ErrorRates, optional
        How often labels are wrong, if it is known. By default the rates of answers are learned from them, and exclusions count
        as right.
    learned_errors : ErrorRates, optional
        Rates that somebody learned from other answers of the same annotators; a first guess, which the answers may correct.
    prior_interval : pair of arrays, optional
        Bounds of a 95 % interval of given priors.
    seed : int
        Of the draws.

    Examples
    --------
    >>> from scarce.simulate import uniform
    >>> y = np.repeat([0, 1, 2], [600, 200, 200])
    >>> model = fit_label_model(uniform(y, seed=0))
    >>> low, high = model.prior_interval()
    >>> bool((low < [0.6, 0.2, 0.2]).all() and (high > [0.6, 0.2, 0.2]).all())
    True
    """
    rng = np.random.default_rng(seed)
    rates, error_draws, error_source = _errors(labels, errors, learned_errors, rng)
    if priors is not None:
        values = check_priors(priors, labels.classes)
        return LabelModel(
            values, rates, "given", error_source, _around(values, prior_interval, rng), error_draws
        )
    if has_random_answers(labels):
        values, draws = _shares_of_yes(labels, rates, error_draws, rng)
        return LabelModel(values, rates, "answers", error_source, draws, error_draws)
    draws = _prior_draws(labels, rates.false_negative, rng)
    return LabelModel(draws.mean(axis=0), rates, "labels", error_source, draws, error_draws)


def as_label_model(labels: ComplementaryLabels, priors: Any) -> LabelModel:
    """Return a label model as it is, if it suits the labels, and else one with these priors, or with those that labels tell.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1, 1, 0], classes=2)
    >>> as_label_model(labels, [0.5, 0.5]).source, as_label_model(labels, None).source
    ('given', 'labels')
    """
    if not isinstance(priors, LabelModel):
        return fit_label_model(labels, priors)
    if len(priors.priors) != labels.n_classes:
        raise PriorError(
            f"the label model has {len(priors.priors)} classes and the labels have {labels.n_classes}; fit it to such labels."
        )
    return priors


def n_draws(n_classes: int) -> int:
    """Return how many draws to take: a thousand, or of many classes fewer.

    Examples
    --------
    >>> n_draws(10), n_draws(1000)
    (1000, 100)
    """
    return max(100, min(_MOST_DRAWS, _DRAWN // n_classes))


def check_error_rates(errors: ErrorRates, labels: ComplementaryLabels) -> None:
    """Raise `MethodError` if examples would exclude their own class as often as any other: such labels tell nothing.

    Examples
    --------
    >>> check_error_rates(ErrorRates(0.4, 0.0), ComplementaryLabels.from_single([0, 1, 2], classes=3))
    Traceback (most recent call last):
    scarce.errors.MethodError: the error rate is 0.4, but a class is excluded by only 0.333 of the examples on average; ...
    """
    usual, rate = float(labels.rates.mean()), errors.false_negative
    if rate and rate >= usual and not has_random_answers(labels):
        raise MethodError(
            f"the error rate is {rate:g}, but a class is excluded by only {usual:.3g} of the examples on average; expected less "
            "than that, since labels that are wrong so often tell nothing."
        )


def _errors(
    labels: ComplementaryLabels,
    given: ErrorRates | None,
    learned: ErrorRates | None,
    rng: np.random.Generator,
) -> tuple[ErrorRates, FloatArray, str]:
    """Return rates, draws of them, and where they come from."""
    if given is not None or not has_random_answers(labels):
        rates = given or ErrorRates(0.0, 0.0)
        draws = np.tile([rates.false_negative, rates.false_positive], (n_draws(labels.n_classes), 1))
        return rates, draws, "none" if given is None else "given"
    draws = _error_draws(labels, learned, rng)
    return ErrorRates(*np.median(draws, axis=0).tolist()), draws, "learned"


def _error_draws(
    labels: ComplementaryLabels, learned: ErrorRates | None, rng: np.random.Generator
) -> FloatArray:
    """Draw error rates from their posterior given all answers, with Σ_i log Σ_y π_y Π P(answers of i | y) as log-likelihood.

    A share of the draws is zero: the posterior probability that there are no errors.
    """
    some = _sample(labels, rng)
    assert some.answers is not None
    said = some.answers.answer != SKIP
    rows, asked = (
        torch.from_numpy(column[said].astype(np.int64))
        for column in (some.answers.example, some.answers.class_index)
    )
    yes = torch.from_numpy(some.answers.answer[said] == YES)
    q, m, m_draws = labels.n_classes, len(rows), n_draws(labels.n_classes)
    usual = [_USUAL_RATE] * 2 if learned is None else [learned.false_negative, learned.false_positive]
    centre = torch.tensor(usual, dtype=torch.float64).clamp(0.01, 0.45).logit()

    def likelihood(log_pi: Tensor, miss: Tensor, false: Tensor) -> Tensor:
        e, constant = answer_log_likelihood(some.shape, rows, asked, yes, miss.expand(m), false.expand(m))
        return ((e + log_pi).logsumexp(dim=1) + constant).sum() + _CONCENTRATION * log_pi.sum()

    shares = torch.from_numpy(_shares_of_yes(labels, ErrorRates(0.0, 0.0), np.zeros((1, 2)), rng)[0]).log()
    n_free = q if q <= _MANY else 0

    def log_priors(theta: Tensor) -> Tensor:
        return theta[:q].log_softmax(dim=0) if n_free else shares

    def with_errors(theta: Tensor) -> Tensor:
        logits = theta[n_free:]
        usual = ((logits - centre) ** 2).sum() / (2 * _SPREAD**2) + 2 * np.log(_SPREAD)
        # Who misses little also invents little.
        alike = (logits[0] - logits[1] - (centre[0] - centre[1])) ** 2 / 2
        loss: Tensor = usual + alike + hold(theta[:n_free]) - likelihood(log_priors(theta), *logits.sigmoid())
        return loss

    def without(theta: Tensor) -> Tensor:
        never = torch.zeros(1, dtype=torch.float64)
        return hold(theta) - likelihood(log_priors(theta), never, never)

    equal = torch.zeros(n_free, dtype=torch.float64)
    found = laplace(with_errors, torch.cat([equal, centre]))
    n_without = 0
    if learned is None:
        n_without = round(m_draws * probability(laplace(without, equal).log_evidence - found.log_evidence))
    draws = (1 / (1 + np.exp(-found.draw(m_draws - n_without, rng)[:, n_free:]))).clip(0, 0.49)
    return np.concatenate([np.zeros((n_without, 2)), draws])


def _shares_of_yes(
    labels: ComplementaryLabels, rates: ErrorRates, error_draws: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return π_k = (yes_k / asked_k − fp) / (1 − fn − fp), made to sum to one, and draws of it."""
    assert labels.answers is not None
    yes, no = labels.answers.counts(labels.n_classes)
    unasked = yes + no == 0
    share = rng.beta(yes + 0.5, no + 0.5, (n_draws(labels.n_classes), labels.n_classes))

    def priors(of_yes: FloatArray, miss: Any, false: Any) -> FloatArray:
        found = np.maximum((of_yes - false) / (1 - miss - false), _LEAST)
        # A class that nobody was asked about gets what the others leave, or, if they leave nothing, an equal share.
        found = np.where(unasked, 0, found)
        left = np.maximum(1 - found.sum(axis=-1, keepdims=True), 1 / labels.n_classes) / max(unasked.sum(), 1)
        found = np.where(unasked, left, found)
        return found / found.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]

    values = priors(yes / np.maximum(yes + no, 1), rates.false_negative, rates.false_positive)
    return values, priors(share, error_draws[:, :1], error_draws[:, 1:])


def _prior_draws(labels: ComplementaryLabels, error_rate: float, rng: np.random.Generator) -> FloatArray:
    """Draw priors from their posterior given exclusions, partly with equal exclusion probabilities and partly with unequal ones."""
    q, single = labels.n_classes, is_single_label(labels)
    if q > _MANY:
        return rng.dirichlet(_CONCENTRATION * q * np.maximum(candidate_shares(labels), _LEAST), n_draws(q))
    likelihood = (
        _single_likelihood(labels, error_rate) if single else _likelihood(_sample(labels, rng), error_rate)
    )
    chance = np.clip(labels.rates.mean() * q / (q - 1), 1e-4, 1 - 1e-4)
    start = torch.zeros(2 * q, dtype=torch.float64)
    if not single:
        start[q:] = float(np.log(chance / (1 - chance)))

    def posterior(spread: float) -> Normal:
        def loss(theta: Tensor) -> Tensor:
            log_pi, chances = theta[:q].log_softmax(dim=0), theta[q:]
            alike = ((chances - chances.mean()) ** 2).sum() / (2 * spread**2) + q * np.log(spread)
            held = hold(theta[:q]) + (hold(chances) if single else 0.0)
            value: Tensor = -likelihood(log_pi, chances) - _CONCENTRATION * log_pi.sum() + alike + held
            return value

        return laplace(loss, start)

    equal, unequal, m_draws = posterior(_EQUAL), posterior(_UNEQUAL), n_draws(q)
    n_equal = round(
        m_draws * min(probability(equal.log_evidence - unequal.log_evidence), 1 - _ALWAYS_UNEQUAL)
    )
    both = np.concatenate([equal.draw(n_equal, rng), unequal.draw(m_draws - n_equal, rng)])[:, :q]
    draws = torch.from_numpy(both).softmax(dim=1).numpy()
    # Of class k the share 1 − ρ does not exclude it, so that at most (1 − r_k) / (1 − ρ) are of it, up to the error of r.
    _, spared = wilson_interval(
        len(labels) - labels.counts.astype(float), np.full(q, float(len(labels))), _CAP
    )
    return _at_most(draws, np.clip(spared / (1 - error_rate), _LEAST, 1))


def _at_most(draws: FloatArray, most: FloatArray) -> FloatArray:
    """Cut distributions down to `most`, which sums to at least one, and share what is cut off among the rest in proportion."""
    for _ in most:
        draws = np.minimum(np.maximum(draws, _LEAST), most)
        free = np.where(draws < most, draws, 0.0)
        cut = 1 - draws.sum(axis=1, keepdims=True)
        draws = draws + cut * free / np.maximum(free.sum(axis=1, keepdims=True), _LEAST)
    draws = np.clip(draws, _LEAST, most)
    return draws / draws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _likelihood(labels: ComplementaryLabels, error_rate: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Return log P(labels) of log π and logit c: Σ_i [Σ_k log P(ȳ_ik | y ≠ k) + log Σ_y π_y P(ȳ_iy | y) / P(ȳ_iy | other)]."""
    excluded, confirmed_of, times = _distinct_rows(labels)
    is_told = (excluded.any(axis=1)) | (confirmed_of < 0)
    marked, told = torch.from_numpy(excluded), torch.from_numpy(is_told)[:, None]
    confirmed, weights = torch.from_numpy(confirmed_of), torch.from_numpy(times)
    counts = torch.from_numpy(labels.counts.astype(np.float64))
    n_told = float((weights * told[:, 0]).sum())

    def value(log_pi: Tensor, logits: Tensor) -> Tensor:
        log_c, log_not = torch.nn.functional.logsigmoid(logits), torch.nn.functional.logsigmoid(-logits)
        base = counts @ log_c + (n_told - counts) @ log_not
        own = _IMPOSSIBLE * torch.ones_like(log_c) if error_rate == 0 else np.log(error_rate) - log_c
        log_likelihood = torch.where(marked, own, torch.where(told, np.log1p(-error_rate) - log_not, 0.0))
        sure = torch.where(confirmed >= 0, (-log_not)[confirmed] * told[:, 0], 0.0)
        rows = (clamp_confirmed(log_likelihood, confirmed) + log_pi).logsumexp(dim=1) + sure
        return base + weights @ rows

    return value


def _distinct_rows(labels: ComplementaryLabels) -> tuple[NDArray[np.bool_], IntArray, FloatArray]:
    """Return the distinct rows of exclusions and confirmed classes, and how often each occurs."""
    excluded, confirmed = labels.indicator(), labels.confirmed.astype(np.int64)
    packed = np.concatenate([np.packbits(excluded, axis=1), confirmed.view(np.uint8).reshape(-1, 8)], axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return excluded[first], confirmed[first], times.astype(float)


def _single_likelihood(labels: ComplementaryLabels, error_rate: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Return log P(labels) of log π and log w: Σ_k n_k log [(1 − ρ) Σ_{y ≠ k} π_y w_k / (W − w_y) + ρ π_k]."""
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


def _around(values: FloatArray, interval: tuple[Any, Any] | None, rng: np.random.Generator) -> FloatArray:
    if interval is None:
        return np.broadcast_to(values, (n_draws(len(values)), len(values)))
    low, high = (np.asarray(bound, float) for bound in interval)
    if low.shape != values.shape or high.shape != values.shape:
        raise PriorError(
            f"the interval of the priors has bounds of shape {low.shape} and {high.shape}; expected {len(values)} numbers each."
        )
    errors = np.maximum(high - low, 0) / (2 * 1.96)
    draws = np.maximum(values + errors * rng.standard_normal((n_draws(len(values)), len(values))), _LEAST)
    return draws / draws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _sample(labels: ComplementaryLabels, rng: np.random.Generator) -> ComplementaryLabels:
    most = int(np.clip(_MOST_WORK / labels.n_classes**2, 1000, _MOST_ROWS))
    if len(labels) <= most:
        return labels
    return labels[np.sort(rng.permutation(len(labels))[:most])]
