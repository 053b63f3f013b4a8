"""Label models: the class priors and error rates that evaluation needs; never learned from the classifier to evaluate.

For a class k let c_k be the probability that an example of another class is said not to be k, and ρ_k the probability that an
example of class k is. Labels that depend on an example only through its class are said of it at the rate

    r_k = c_k (1 − π_k) + ρ_k π_k.

Answers to random questions tell all of it but for the errors: c = 1 − P(yes | not k) and ρ = P(no | k). Exclusions leave a
choice: a class that is seldom excluded may be common, or seldom asked about. So the priors that go with exclusions are a
distribution, not a number: the posterior under SCAR, partly with exclusion probabilities that are alike and partly with unequal
ones, as the labels make either probable; see `scarce.metrics._label_posterior`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._arrays import FloatArray
from scarce._validation import check_priors
from scarce.errors import MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import YES
from scarce.metrics._label_posterior import draw_error_rates, draw_priors, n_draws, priors_from_yes_rates

__all__ = [
    "ErrorRates",
    "LabelModel",
    "as_label_model",
    "check_error_rates",
    "fit_label_model",
    "has_random_answers",
]

_EPS = 1e-9


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
    """Return whether some answers are "yes", so that priors can be estimated from answers.

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
        Of the examples that a classifier is evaluated on.
    priors : array of q numbers, optional
        π, if it is known. By default it comes from the share of "yes" among answers, which are taken to be answers to random
        questions, and else from the likelihood of the exclusions.
    errors : ErrorRates, optional
        How often labels are wrong, if it is known. By default the rates of answers are learned from them, and exclusions count
        as right.
    learned_errors : ErrorRates, optional
        Rates learned from other answers of the same annotators; a first guess, which the answers may correct.
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
    rates, error_draws, error_source = _resolve_errors(labels, errors, learned_errors, rng)
    if priors is not None:
        values = check_priors(priors, labels.classes)
        return LabelModel(
            values, rates, "given", error_source, _draw_around(values, prior_interval, rng), error_draws
        )
    if has_random_answers(labels):
        known = rates.false_negative, rates.false_positive
        values, draws = priors_from_yes_rates(labels, known, error_draws, rng)
        return LabelModel(values, rates, "answers", error_source, draws, error_draws)
    draws = draw_priors(labels, rates.false_negative, rng)
    return LabelModel(draws.mean(axis=0), rates, "labels", error_source, draws, error_draws)


def as_label_model(labels: ComplementaryLabels, priors: Any) -> LabelModel:
    """Return a label model unchanged if it fits the labels; else fit one, with these priors or with estimated ones.

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


def check_error_rates(errors: ErrorRates, labels: ComplementaryLabels) -> None:
    """Raise `MethodError` if examples would exclude their own class as often as any other: such labels carry no information.

    Examples
    --------
    >>> check_error_rates(ErrorRates(0.4, 0.0), ComplementaryLabels.from_single([0, 1, 2], classes=3))
    Traceback (most recent call last):
    scarce.errors.MethodError: the error rate is 0.4, but a class is excluded by only 0.333 of the examples on average; ...
    """
    mean_rate, rate = float(labels.rates.mean()), errors.false_negative
    if rate and rate >= mean_rate and not has_random_answers(labels):
        raise MethodError(
            f"the error rate is {rate:g}, but a class is excluded by only {mean_rate:.3g} of the examples on average; expected "
            "less than that, since labels that are wrong so often carry no information."
        )


def _resolve_errors(
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
    guess = None if learned is None else (learned.false_negative, learned.false_positive)
    draws = draw_error_rates(labels, guess, rng)
    return ErrorRates(*np.median(draws, axis=0).tolist()), draws, "learned"


def _draw_around(
    values: FloatArray, interval: tuple[Any, Any] | None, rng: np.random.Generator
) -> FloatArray:
    if interval is None:
        return np.broadcast_to(values, (n_draws(len(values)), len(values)))
    low, high = (np.asarray(bound, float) for bound in interval)
    if low.shape != values.shape or high.shape != values.shape:
        raise PriorError(
            f"the interval of the priors has bounds of shape {low.shape} and {high.shape}; expected {len(values)} numbers each."
        )
    errors = np.maximum(high - low, 0) / (2 * 1.96)
    draws = np.maximum(values + errors * rng.standard_normal((n_draws(len(values)), len(values))), _EPS)
    return draws / draws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
