"""The likelihood under SCAR: special cases, rates, and minimizers."""

from math import prod

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import (
    LABEL_SETS,
    SETS,
    SINGLE_LABEL_SETS,
    SINGLES,
    Q,
    assert_minimized_at_truth,
    double,
    expected_risk,
    max_gradient_at_truth,
    population,
    quick,
    random_logits,
    random_scar_rates,
    seeds,
    slow_probabilities,
)
from hypothesis import given

from scarce.methods.partial_label import candidate_losses
from scarce.risk import (
    exclusion_probabilities,
    marginal_nll,
    scar_log_likelihood,
    scar_ratios,
    single_label_ratios,
    single_label_weights,
)

SCAR_C = [0.2, 0.5, 0.7, 0.35]
ERROR_RATES = [0.05, 0.1, 0.0, 0.2]


def scar_process(c, error_rate):
    """Exclude every wrong class k with probability c_k, and the true class by error, independently."""

    def probability(labels, y):
        rates = [error_rate[k] if k == y else c[k] for k in range(len(labels))]
        return prod(p if excluded else 1 - p for p, excluded in zip(rates, labels, strict=True))

    return probability


def single_scar_process(c, error_rate):
    """Exclude the true class by error; otherwise draw under SCAR until exactly one class is excluded."""
    without_errors = scar_process(c, [0.0] * Q)

    def probability(labels, y):
        if labels[y]:
            return error_rate[y]
        total = sum(without_errors(other, y) for other in SINGLE_LABEL_SETS)
        return (1 - error_rate[y]) * without_errors(labels, y) / total

    return probability


# Special cases -------------------------------------------------------------------------------------------------


@quick
@given(seeds)
def test_scar_loss_of_equal_rates_equals_cc_plus_constant(seed):
    rng = np.random.default_rng(seed)
    f, c = random_logits(rng, len(SETS) - 1), rng.uniform(0.1, 0.9)
    sets = SETS[:-1]  # all but the set of all classes
    ratios = scar_ratios(torch.full((Q,), c).double(), torch.zeros(Q).double())
    difference = marginal_nll(f, scar_log_likelihood(sets, ratios)) - candidate_losses(f, sets == 0)
    assert difference.tolist() == pytest.approx([np.log(1 - c)] * len(sets), abs=1e-6)


def test_unlabeled_row_is_informative_only_where_rates_differ():
    for c, is_uninformative in (([0.4] * Q, True), (SCAR_C, False)):
        f = double([[0.3, -1.0, 0.5, 2.0]]).requires_grad_(True)
        log_likelihood = scar_log_likelihood(
            torch.zeros(1, Q), scar_ratios(double(c), torch.zeros(Q).double())
        )
        marginal_nll(f, log_likelihood).sum().backward()
        assert f.grad.abs().max() < 1e-15 if is_uninformative else f.grad.abs().max() > 0.01


@pytest.mark.parametrize("error_rate", [1e-4, 0.1])
def test_row_excluding_every_class_has_finite_loss(error_rate):
    ratios = scar_ratios(double(SCAR_C), torch.full((Q,), error_rate).double())
    loss = marginal_nll(double([[9.0, 0.0, -9.0, 1.0]]), scar_log_likelihood(torch.ones(1, Q), ratios))
    likely = sum(
        p * error_rate / c for p, c in zip(double([9, 0, -9, 1]).softmax(0).tolist(), SCAR_C, strict=True)
    )
    assert loss.item() == pytest.approx(-np.log(likely))


# Exclusion probabilities from rates --------------------------------------------------------------------------


def random_distribution(rng, q):
    values = rng.uniform(0.1, 1, q)
    return values / values.sum()


@quick
@given(seeds)
def test_exclusion_probabilities_invert_rates(seed):
    rng = np.random.default_rng(seed)
    (c, error_rate), priors = random_scar_rates(rng), torch.from_numpy(random_distribution(rng, Q))
    rates = c * (1 - priors) + error_rate * priors
    torch.testing.assert_close(exclusion_probabilities(rates, priors, error_rate), c)


def test_exclusion_probabilities_stay_probabilities_for_inconsistent_rates():
    priors, error_rate = double([0.8, 0.1, 0.1]), double([0.0, 0.5, 0.0])
    assert exclusion_probabilities(double([0.5, 0.01, 0.0]), priors, error_rate).tolist() == [1, 0, 0]
    assert exclusion_probabilities(double([0.5, 0.5]), double([1.0, 0.0]), torch.zeros(2)).tolist() == [
        1,
        0.5,
    ]


def single_label_rates(w, priors, error_rate):
    """The rate at which each class is excluded, by a loop over true classes and labels."""
    rates = [0.0] * len(w)
    for y in range(len(w)):
        rates[y] += priors[y] * error_rate[y]
        rest = sum(w[k] for k in range(len(w)) if k != y)
        for k in range(len(w)):
            if k != y:
                rates[k] += priors[y] * (1 - error_rate[y]) * w[k] / rest
    return rates


@pytest.mark.parametrize("has_zero_weight", [False, True])
@pytest.mark.parametrize("start", ["cold", "warm", "warm with a zero"])
@quick
@given(seeds)
def test_single_label_weights_reproduce_rates(has_zero_weight, start, seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(3, 7))
    w, priors, error_rate = random_distribution(rng, q), random_distribution(rng, q), rng.uniform(0, 0.2, q)
    if has_zero_weight:
        w[0] = error_rate[0] = 0
    rates = single_label_rates(w, priors, error_rate)
    warm = None if start == "cold" else double(random_distribution(rng, q).tolist())
    if start == "warm with a zero":  # as left by an earlier estimate
        warm[1] = 0
    got = single_label_weights(double(rates), torch.from_numpy(priors), torch.from_numpy(error_rate), warm)
    assert got.sum().item() == pytest.approx(1)
    assert single_label_rates(got.tolist(), priors, error_rate) == pytest.approx(rates, abs=1e-8)
    assert got[0] == 0 or not has_zero_weight


def test_single_label_weights_stay_distribution_for_impossible_rates():
    """Half of the examples belong to class 0, so nine out of ten cannot exclude it."""
    got = single_label_weights(double([0.9, 0.05, 0.05]), double([0.5, 0.3, 0.2]), torch.zeros(3))
    assert got.isfinite().all()
    assert got.sum().item() == pytest.approx(1)
    assert got[0] > 0.99


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_label_weights_recover_from_impossible_priors(dtype):
    """Training may start with priors under which the observed exclusion rates are impossible."""
    w, priors, error_rate = [0.05, 0.2, 0.75], double([0.6, 0.3, 0.1]).to(dtype), torch.zeros(3, dtype=dtype)
    rates = double(single_label_rates(w, [0.6, 0.3, 0.1], [0.0] * 3)).to(dtype)
    assert rates[2] > 2 / 3  # more than equal priors allow
    from_wrong_priors = single_label_weights(rates, torch.full_like(priors, 1 / 3), error_rate)
    assert from_wrong_priors.min() > 0
    assert from_wrong_priors[2] > 0.99
    assert single_label_weights(rates, priors, error_rate, from_wrong_priors).tolist() == pytest.approx(
        w, abs=1e-5
    )


# Probabilities and minimizers --------------------------------------------------------------------------------


def odds(c):
    return c / (1 - c)


@quick
@given(seeds)
def test_scar_likelihood_equals_enumerated_probabilities(seed):
    rng = np.random.default_rng(seed)
    (c, error_rate), f = random_scar_rates(rng), random_logits(rng, 1)
    base = (SETS * c + (1 - SETS) * (1 - c)).prod(dim=1)
    loss = marginal_nll(f.expand(len(SETS), Q), scar_log_likelihood(SETS, scar_ratios(c, error_rate)))
    probability = base * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    process = scar_process(c.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(
        slow_probabilities(process, LABEL_SETS, f.softmax(1)[0]), abs=1e-10
    )


@quick
@given(seeds)
def test_single_label_ratios_equal_enumerated_probabilities(seed):
    """P(k) = w_k exp(−loss) for weights w of any scale."""
    rng = np.random.default_rng(seed)
    (c, error_rate), f = random_scar_rates(rng), random_logits(rng, 1)
    weights = odds(c) / odds(c).sum()
    loss = marginal_nll(
        f.expand(Q, Q), scar_log_likelihood(SINGLES, single_label_ratios(weights, error_rate))
    )
    other = marginal_nll(
        f.expand(Q, Q), scar_log_likelihood(SINGLES, single_label_ratios(7 * weights, error_rate))
    )
    probability = weights * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    assert (7 * weights * torch.exp(-other)).tolist() == pytest.approx(probability.tolist(), abs=1e-10)
    process = single_scar_process(c.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(
        slow_probabilities(process, SINGLE_LABEL_SETS, f.softmax(1)[0]), abs=1e-10
    )


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERROR_RATES])
def test_scar_loss_is_minimized_at_truth(error_rate):
    ratios = scar_ratios(double(SCAR_C), double(error_rate))
    assert_minimized_at_truth(
        expected_risk(lambda labels: scar_log_likelihood(labels, ratios), scar_process(SCAR_C, error_rate))
    )


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERROR_RATES])
def test_single_label_scar_loss_is_minimized_at_truth(error_rate):
    ratios = single_label_ratios(odds(double(SCAR_C)), double(error_rate))
    process = single_scar_process(SCAR_C, error_rate)
    assert_minimized_at_truth(
        expected_risk(lambda labels: scar_log_likelihood(labels, ratios), process, SINGLE_LABEL_SETS)
    )


def test_cc_loss_is_biased_where_exclusion_rates_differ():
    """CC fails the test above unless the exclusion probabilities are equal, so that test can fail."""
    for c, is_consistent in ((SCAR_C, False), ([0.4] * Q, True)):
        x, labels, probability = population(scar_process(c, [0.0] * Q))
        possible = probability > 0  # CC cannot handle the set of all classes
        x, labels, probability = x[possible], labels[possible], probability[possible]
        gradient = max_gradient_at_truth(lambda f: (probability * candidate_losses(f[x], labels == 0)).sum())  # noqa: B023
        assert gradient < 1e-10 if is_consistent else gradient > 0.01


def test_scar_loss_is_biased_if_errors_are_ignored():
    ratios = scar_ratios(double(SCAR_C), torch.zeros(Q).double())
    risk = expected_risk(
        lambda labels: scar_log_likelihood(labels, ratios), scar_process(SCAR_C, ERROR_RATES)
    )
    assert max_gradient_at_truth(risk) > 0.01
