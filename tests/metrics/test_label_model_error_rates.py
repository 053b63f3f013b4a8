"""Error rates of a label model: given, assumed to be zero, or learned from answers."""

import numpy as np
import pytest

from scarce.errors import MethodError
from scarce.metrics import ErrorRates, fit_label_model
from scarce.simulate import ask, uniform

NO_ERRORS = ErrorRates(0.0, 0.0)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.05, 0.0), (0.0, 0.3), (0.4, 0.5)])
def test_error_rates_accept_sum_below_one(rates):
    assert (ErrorRates(*rates).false_negative, ErrorRates(*rates).false_positive) == rates


@pytest.mark.parametrize(
    "rates",
    [
        (-0.1, 0.0),
        (0.0, -0.1),
        (0.5, 0.5),
        (1.0, 0.0),
        (0.9, 0.3),
        (np.nan, 0.1),
        (0.1, np.nan),
        (np.inf, 0.0),
    ],
)
def test_error_rates_reject_invalid_values(rates):
    with pytest.raises(
        MethodError, match=r"the error rates are .* expected numbers of at least 0 with a sum below 1"
    ):
        ErrorRates(*rates)


def test_error_rates_of_exclusions_are_given_or_zero():
    labels = uniform([0, 1, 2] * 30, seed=0)
    unknown, known = fit_label_model(labels), fit_label_model(labels, errors=ErrorRates(0.05, 0.0))
    assert (unknown.errors, unknown.error_source) == (NO_ERRORS, "none")
    assert (known.errors, known.error_source) == (ErrorRates(0.05, 0.0), "given")
    assert (unknown.error_draws == 0).all()
    assert (known.error_draws == [0.05, 0.0]).all()


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1])
def test_error_rates_of_single_answers_are_learned_roughly(rate):
    """Frequencies of "yes" sum to 1 + 8 · rate, which is one equation for the two rates."""
    y = np.random.default_rng(0).integers(0, 10, 2000)
    labels = ask(y, classes=10, seed=1, false_negative_rate=rate, false_positive_rate=rate)
    model = fit_label_model(labels)
    low, high = np.quantile(model.error_draws, [0.005, 0.995], axis=0)
    assert model.error_source == "learned"
    assert (low <= rate).all()
    assert (high >= rate).all()
    assert model.errors.false_positive == pytest.approx(rate, abs=0.03)


@pytest.mark.parametrize("rates", [(0.1, 0.05), (0.02, 0.2), (0.25, 0.02)])
def test_error_rates_of_repeated_answers_are_learned(rates):
    y = np.random.default_rng(0).choice(4, 2000, p=[0.4, 0.3, 0.2, 0.1])
    labels = ask(
        y, questions=3, classes=4, seed=1, false_negative_rate=rates[0], false_positive_rate=rates[1]
    )
    model = fit_label_model(labels)
    low, high = np.quantile(model.error_draws, [0.005, 0.995], axis=0)
    assert model.error_source == "learned"
    assert (low < rates).all()
    assert (high > rates).all()
    assert (high - low < 0.2).all()  # much narrower than the prior on error rates
    assert (model.errors.false_negative, model.errors.false_positive) == pytest.approx(rates, abs=0.05)


def test_error_rates_of_correct_answers_are_near_zero():
    model = fit_label_model(ask(np.arange(2000) % 4, questions=3, seed=0))
    assert (model.error_draws < 0.02).mean() > 0.95
    assert model.errors.false_negative < 0.01
    assert model.errors.false_positive < 0.01


def test_learned_error_rates_are_starting_point_for_answers():
    y = np.random.default_rng(0).integers(0, 4, 2000)
    guess = ErrorRates(0.1, 0.1)
    few = ask(y[:40], classes=4, seed=1, false_negative_rate=0.1, false_positive_rate=0.1)
    many = ask(y, questions=4, classes=4, seed=1)
    believed = fit_label_model(few, learned_errors=guess)
    assert believed.error_source == "learned"
    assert (believed.errors.false_negative, believed.errors.false_positive) == pytest.approx(
        (0.1, 0.1), abs=0.06
    )
    corrected = fit_label_model(many, learned_errors=guess).errors
    assert max(corrected.false_negative, corrected.false_positive) < 0.02
    assert (
        fit_label_model(many, errors=guess, learned_errors=NO_ERRORS).errors == guess
    )  # given rates take precedence
