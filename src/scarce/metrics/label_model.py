"""Label models: the class priors and error rates that evaluation needs, never learned from the classifier that is evaluated.

Let c_k be the probability that an example of another class is labeled "not k", and ρ_k the probability that an example of class
k is (by mistake). If labels depend on an example only through its class, the rate of "not k" is

    r_k = c_k (1 − π_k) + ρ_k π_k.

For answers to random questions, c = 1 − P(yes | not k) and ρ = P(no | k), so the error rates determine the priors. For exclusions
they do not: a class that is rarely excluded may be common, or annotators may rarely have been asked about it. Then the priors are
drawn from their posterior under SCAR; see `scarce.metrics._label_posterior`.
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

_EPS = 1e-9


@dataclass(frozen=True)
class ErrorRates:
    """The probabilities of a wrong label, given the true class.

    Attributes
    ----------
    false_negative : float
        P("no" | the example is of the class). For exclusions, the probability that an example excludes its own class.
    false_positive : float
        P("yes" | the example is of another class); 0 if there are only exclusions.

    Raises
    ------
    MethodError
        If a rate is negative, or the rates sum to 1 or more.

    See Also
    --------
    fit_label_model : Takes error rates, or learns them from answers.

    Examples
    --------
    >>> ErrorRates(0.05, 0.02).false_negative
    0.05
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
                "sum below 1: pass ErrorRates(0.05, 0.05) (--label-noise 0.05), for example."
            )


@dataclass(frozen=True, eq=False)
class LabelModel:
    """The class priors and error rates behind a set of labels, with draws that represent their uncertainty.

    Attributes
    ----------
    priors : array of shape (q,)
        π.
    errors : ErrorRates
        The probabilities of a wrong label.
    source : {"given", "answers", "labels"}
        Where the priors come from: given, estimated from the fractions of "yes" among answers to random questions, or estimated
        from the likelihood of the exclusions.
    error_source : {"given", "learned", "none"}
        Where the error rates come from; with "none" every exclusion counts as correct.
    prior_draws : array of shape (m, q)
        m draws of the priors.
    error_draws : array of shape (m, 2)
        m draws of the false-negative and the false-positive rate.

    See Also
    --------
    fit_label_model : Estimate a label model from labels.

    Examples
    --------
    >>> model = fit_label_model(ComplementaryLabels.from_single([0, 1], classes=2), [0.5, 0.5])
    >>> model.source, model.prior_draws.shape
    ('given', (1000, 2))
    """

    priors: FloatArray
    errors: ErrorRates
    source: str
    error_source: str
    prior_draws: FloatArray
    error_draws: FloatArray

    def prior_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper bounds of an interval for every prior, each of shape (q,): quantiles of the draws."""
        low, high = np.quantile(self.prior_draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def has_random_answers(labels: ComplementaryLabels) -> bool:
    """Return whether some answers are "yes"; if so, all answers are treated as answers to random questions.

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
    """Estimate the class priors and error rates behind labels, from the labels and what you know about them.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels of the examples that a classifier is evaluated on.
    priors : array of shape (q,), optional
        π, if known. By default it is estimated from the fractions of "yes" if some answers are "yes" (they are then treated as
        answers to random questions), and otherwise from the likelihood of the exclusions.
    errors : ErrorRates, optional
        Error rates, if known. By default they are learned if some answers are "yes"; otherwise every exclusion counts as correct.
    learned_errors : ErrorRates, optional
        Rates learned from other answers of the same annotators, as an initial guess.
    prior_interval : pair of arrays of shape (q,), optional
        Lower and upper bounds of a 95 % interval for the given `priors`.
    seed : int
        The seed of the draws.

    Returns
    -------
    LabelModel
        Priors, error rates, and draws of both.

    Raises
    ------
    PriorError
        If the priors or their interval do not fit the classes.

    See Also
    --------
    complementary_accuracy, complementary_report, make_complementary_scorer : Accept a label model in place of priors.

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
    """Return `priors` if it is a label model; otherwise fit one to the labels, with the given priors or, for None, estimated ones.

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
            f"the label model has {len(priors.priors)} classes and the labels have {labels.n_classes}; expected the same number: "
            "pass fit_label_model(labels)."
        )
    return priors


def check_error_rates(errors: ErrorRates, labels: ComplementaryLabels) -> None:
    """Raise a `MethodError` if examples exclude their own class as often as any other: such labels carry no information.

    Examples
    --------
    >>> check_error_rates(ErrorRates(0.4, 0.0), ComplementaryLabels.from_single([0, 1, 2], classes=3))
    Traceback (most recent call last):
    scarce.errors.MethodError: the error rate is 0.4, but a class is excluded by only 0.333 of the examples on average; ...
    """
    mean_rate, rate = float(labels.rates.mean()), errors.false_negative
    if rate and rate >= mean_rate and not has_random_answers(labels):
        raise MethodError(
            f"the error rate is {rate:g}, but a class is excluded by only {mean_rate:.3g} of the examples on average; expected a "
            "rate below that, because otherwise the labels carry no information: pass a lower error rate."
        )


def _resolve_errors(
    labels: ComplementaryLabels,
    given: ErrorRates | None,
    learned: ErrorRates | None,
    rng: np.random.Generator,
) -> tuple[ErrorRates, FloatArray, str]:
    """Return the error rates, draws of them, and their source."""
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
            f"the interval of the priors has bounds of shape {low.shape} and {high.shape}; expected {len(values)} numbers each: "
            "pass prior_interval=(low, high)."
        )
    errors = np.maximum(high - low, 0) / (2 * 1.96)
    draws = np.maximum(values + errors * rng.standard_normal((n_draws(len(values)), len(values))), _EPS)
    return draws / draws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
