"""What the likelihood is in special cases, the chances that rates imply, and the evidence itself."""

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import (
    CHANCES,
    ERRORS,
    LABEL_SETS,
    ONE_MARK,
    SETS,
    SINGLES,
    Q,
    assert_truth_is_best,
    conditioned_story,
    double,
    gradient_at_truth,
    population,
    quick,
    random_logits,
    random_scar,
    risk_of,
    scar_story,
    seeds,
    told,
)
from hypothesis import given

from scarce.methods.cc import cc_losses
from scarce.risk import (
    evidence_losses,
    exclusion_chances,
    one_mark_ratios,
    one_mark_weights,
    scar_evidence,
    scar_ratios,
)

# Special cases -------------------------------------------------------------------------------------------------


@quick
@given(seeds)
def test_equal_chances_without_errors_are_cc_and_a_constant(seed):
    rng = np.random.default_rng(seed)
    f, c = random_logits(rng, len(SETS) - 1), rng.uniform(0.1, 0.9)
    sets = SETS[:-1]  # all but the set of all classes
    ratios = scar_ratios(torch.full((Q,), c).double(), torch.zeros(Q).double())
    difference = evidence_losses(f, scar_evidence(sets, ratios)) - cc_losses(f, sets == 0)
    assert difference.tolist() == pytest.approx([np.log(1 - c)] * len(sets), abs=1e-6)


def test_a_row_without_labels_says_something_exactly_where_chances_differ():
    for chances, silent in (([0.4] * Q, True), (CHANCES, False)):
        f = double([[0.3, -1.0, 0.5, 2.0]]).requires_grad_(True)
        evidence = scar_evidence(torch.zeros(1, Q), scar_ratios(double(chances), torch.zeros(Q).double()))
        evidence_losses(f, evidence).sum().backward()
        assert f.grad.abs().max() < 1e-15 if silent else f.grad.abs().max() > 0.01


@pytest.mark.parametrize("error_rate", [1e-4, 0.1])
def test_a_row_that_excludes_every_class_is_improbable_and_no_more(error_rate):
    ratios = scar_ratios(double(CHANCES), torch.full((Q,), error_rate).double())
    loss = evidence_losses(double([[9.0, 0.0, -9.0, 1.0]]), scar_evidence(torch.ones(1, Q), ratios))
    likely = sum(
        p * error_rate / c for p, c in zip(double([9, 0, -9, 1]).softmax(0).tolist(), CHANCES, strict=True)
    )
    assert loss.item() == pytest.approx(-np.log(likely))


# Exclusion probabilities from rates --------------------------------------------------------------------------


def random_shares(rng, q):
    shares = rng.uniform(0.1, 1, q)
    return shares / shares.sum()


@quick
@given(seeds)
def test_chances_invert_the_rates_they_make(seed):
    rng = np.random.default_rng(seed)
    (chances, error_rate), priors = random_scar(rng), torch.from_numpy(random_shares(rng, Q))
    rates = chances * (1 - priors) + error_rate * priors
    torch.testing.assert_close(exclusion_chances(rates, priors, error_rate), chances)


def test_chances_stay_probabilities_where_rates_and_priors_disagree():
    priors, error_rate = double([0.8, 0.1, 0.1]), double([0.0, 0.5, 0.0])
    assert exclusion_chances(double([0.5, 0.01, 0.0]), priors, error_rate).tolist() == [1, 0, 0]
    assert exclusion_chances(double([0.5, 0.5]), double([1.0, 0.0]), torch.zeros(2)).tolist() == [1, 0.5]


def one_mark_rates(w, priors, error_rate):
    """How often each class is marked, class by class and mark by mark."""
    rates = [0.0] * len(w)
    for y in range(len(w)):
        rates[y] += priors[y] * error_rate[y]
        rest = sum(w[k] for k in range(len(w)) if k != y)
        for k in range(len(w)):
            if k != y:
                rates[k] += priors[y] * (1 - error_rate[y]) * w[k] / rest
    return rates


@pytest.mark.parametrize("never", [False, True])
@pytest.mark.parametrize("start", ["cold", "warm", "warm with a zero"])
@quick
@given(seeds)
def test_weights_of_one_mark_give_the_rates(never, start, seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(3, 7))
    w, priors, error_rate = random_shares(rng, q), random_shares(rng, q), rng.uniform(0, 0.2, q)
    if never:
        w[0] = error_rate[0] = 0
    rates = one_mark_rates(w, priors, error_rate)
    warm = None if start == "cold" else double(random_shares(rng, q).tolist())
    if start == "warm with a zero":  # left by an earlier guess of priors and errors
        warm[1] = 0
    got = one_mark_weights(double(rates), torch.from_numpy(priors), torch.from_numpy(error_rate), warm)
    assert got.sum().item() == pytest.approx(1)
    assert one_mark_rates(got.tolist(), priors, error_rate) == pytest.approx(rates, abs=1e-8)
    assert got[0] == 0 or not never


def test_weights_of_one_mark_stay_a_distribution_where_no_weights_give_the_rates():
    """Of the examples half are of class 0, so that it cannot be marked in nine out of ten."""
    got = one_mark_weights(double([0.9, 0.05, 0.05]), double([0.5, 0.3, 0.2]), torch.zeros(3))
    assert got.isfinite().all()
    assert got.sum().item() == pytest.approx(1)
    assert got[0] > 0.99


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_of_one_mark_recover_from_priors_that_cannot_be(dtype):
    """As in training, which may begin with priors under which a class cannot be marked as often as it is."""
    w, priors, error_rate = [0.05, 0.2, 0.75], double([0.6, 0.3, 0.1]).to(dtype), torch.zeros(3, dtype=dtype)
    rates = double(one_mark_rates(w, [0.6, 0.3, 0.1], [0.0] * 3)).to(dtype)
    assert rates[2] > 2 / 3  # more than equal priors allow
    misled = one_mark_weights(rates, torch.full_like(priors, 1 / 3), error_rate)
    assert misled.min() > 0
    assert misled[2] > 0.99
    assert one_mark_weights(rates, priors, error_rate, misled).tolist() == pytest.approx(w, abs=1e-5)


# Probabilities and minimisers --------------------------------------------------------------------------------


def odds(chances):
    return chances / (1 - chances)


@quick
@given(seeds)
def test_scar_gives_every_set_of_marks_the_probability_of_the_story(seed):
    rng = np.random.default_rng(seed)
    (chances, error_rate), f = random_scar(rng), random_logits(rng, 1)
    base = (SETS * chances + (1 - SETS) * (1 - chances)).prod(dim=1)
    loss = evidence_losses(f.expand(len(SETS), Q), scar_evidence(SETS, scar_ratios(chances, error_rate)))
    probability = base * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    story = scar_story(chances.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(told(story, LABEL_SETS, f.softmax(1)[0]), abs=1e-10)


@quick
@given(seeds)
def test_exactly_one_mark_has_the_probability_of_the_story(seed):
    """w may be given in any unit, and P(k) = w_k exp(−loss) in all of them."""
    rng = np.random.default_rng(seed)
    (chances, error_rate), f = random_scar(rng), random_logits(rng, 1)
    weights = odds(chances) / odds(chances).sum()
    loss = evidence_losses(f.expand(Q, Q), scar_evidence(SINGLES, one_mark_ratios(weights, error_rate)))
    other = evidence_losses(f.expand(Q, Q), scar_evidence(SINGLES, one_mark_ratios(7 * weights, error_rate)))
    probability = weights * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    assert (7 * weights * torch.exp(-other)).tolist() == pytest.approx(probability.tolist(), abs=1e-10)
    story = conditioned_story(chances.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(told(story, ONE_MARK, f.softmax(1)[0]), abs=1e-10)


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERRORS])
def test_the_truth_minimises_the_likelihood_under_scar(error_rate):
    ratios = scar_ratios(double(CHANCES), double(error_rate))
    assert_truth_is_best(risk_of(lambda marks: scar_evidence(marks, ratios), scar_story(CHANCES, error_rate)))


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERRORS])
def test_the_truth_minimises_the_likelihood_of_exactly_one_mark(error_rate):
    ratios = one_mark_ratios(odds(double(CHANCES)), double(error_rate))
    story = conditioned_story(CHANCES, error_rate)
    assert_truth_is_best(risk_of(lambda marks: scar_evidence(marks, ratios), story, ONE_MARK))


def test_equal_chances_assumed_where_they_differ_move_the_minimiser():
    """The tests above have teeth: CC fails the same one, and passes it only where the chances are equal."""
    for chances, right in ((CHANCES, False), ([0.4] * Q, True)):
        x, marks, chance = population(scar_story(chances, [0.0] * Q))
        possible = chance > 0  # CC knows no set of all classes
        x, marks, chance = x[possible], marks[possible], chance[possible]
        gradient = gradient_at_truth(lambda f: (chance * cc_losses(f[x], marks == 0)).sum())  # noqa: B023
        assert gradient < 1e-10 if right else gradient > 0.01


def test_errors_ignored_move_the_minimiser():
    ratios = scar_ratios(double(CHANCES), torch.zeros(Q).double())
    risk = risk_of(lambda marks: scar_evidence(marks, ratios), scar_story(CHANCES, ERRORS))
    assert gradient_at_truth(risk) > 0.01
