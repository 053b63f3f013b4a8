"""Unbiasedness by exact enumeration of every outcome and its probability."""

from itertools import product

import numpy as np
import pytest
import torch

from scarce.risk import (
    class_risks,
    mix_with_ordinary,
    multiclass_loss,
    multiclass_ordinary_losses,
    ovr_ordinary_losses,
    scarce_risk,
)
from scarce.risk.class_risks import ClassSums

Q = 3
JOINT = np.array([[0.10, 0.05, 0.15], [0.20, 0.02, 0.08], [0.10, 0.23, 0.07]])  # p(x, y): three x, three y
C = np.array([0.2, 0.5, 0.9])
SCORES = torch.tensor([[0.3, -1.2, 2.0], [1.1, 0.4, -0.6], [-0.5, 0.8, 0.1]], dtype=torch.float64)
PRIORS = torch.tensor(JOINT.sum(axis=0))


def every_outcome():
    """All (x, y, label set) with their probabilities under SCAR."""
    for x, y in product(range(3), range(Q)):
        for excluded_flags in product([0, 1], repeat=Q - 1):
            excluded = np.insert(np.array(excluded_flags), y, 0)
            probability = np.prod([C[k] if excluded[k] else 1 - C[k] for k in range(Q) if k != y])
            yield x, excluded, JOINT[x, y] * probability


def population_sums(losses, negated):
    """Expected per-class sums of one row: what an infinite sample would give."""
    total = excluded_sum = negated_sum = counts = torch.zeros(Q, dtype=torch.float64)
    for x, excluded, probability in every_outcome():
        mask = torch.tensor(excluded).double()
        total = total + probability * losses[x]
        excluded_sum = excluded_sum + probability * mask * losses[x]
        negated_sum = negated_sum + probability * mask * negated[x]
        counts = counts + probability * mask
    return ClassSums(total, excluded_sum, negated_sum, counts, 1)


def population_risks(sums, form):
    """`class_risks` clamps counts below one; scale the expectations up to a large sample first."""
    large = ClassSums(*(1e6 * part for part in sums))
    return class_risks(large, PRIORS, form=form, rates=sums.counts)


@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
def test_population_risk_equals_ordinary_one_versus_rest_risk(form):
    losses, negated = torch.nn.functional.softplus(-SCORES), torch.nn.functional.softplus(SCORES)
    expected = sum(
        JOINT[x, y] * (losses[x, y] + negated[x].sum() - negated[x, y]).item()
        for x, y in product(range(3), range(Q))
    )
    risks = population_risks(population_sums(losses, negated), form)
    assert (risks.positive + risks.negative).sum().item() == pytest.approx(expected, abs=1e-12)
    truth = [sum(JOINT[x, k] * losses[x, k].item() for x in range(3)) for k in range(Q)]
    assert risks.positive.tolist() == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
@pytest.mark.parametrize("loss", ["cce", "mae", "mse", "gce", "phuber"])
def test_population_risk_equals_ordinary_multiclass_risk(loss, form):
    losses = multiclass_loss(loss)(SCORES)
    expected = sum(JOINT[x, y] * losses[x, y].item() for x, y in product(range(3), range(Q)))
    risks = population_risks(population_sums(losses, torch.zeros_like(losses)), form)
    assert risks.positive.sum().item() == pytest.approx(expected, abs=1e-12)


def test_ht_risk_of_two_rows_is_unbiased_with_absent_classes():
    """Average the risk of every possible pair of rows: no conditioning on which classes occur."""
    outcomes = list(every_outcome())
    rates = torch.tensor(C * (1 - JOINT.sum(axis=0)))
    average = 0.0
    for (x1, e1, p1), (x2, e2, p2) in product(outcomes, outcomes):
        excluded = torch.tensor(np.stack([e1, e2])).double()
        value = scarce_risk(SCORES[[x1, x2]], excluded, PRIORS, form="ht", rates=rates, correction="none")
        average += p1 * p2 * value.item()
    losses, negated = torch.nn.functional.softplus(-SCORES), torch.nn.functional.softplus(SCORES)
    expected = sum(
        JOINT[x, y] * (losses[x, y] + negated[x].sum() - negated[x, y]).item()
        for x, y in product(range(3), range(Q))
    )
    assert average == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("kind", ["ovr", "multiclass"])
def test_ordinary_risk_is_unbiased_under_unequal_questions(kind):
    """One row; class k is asked about with probability a_k, and a "yes" occurs only where it was asked."""
    asked = np.array([0.3, 0.6, 0.9])
    weights = torch.tensor(1 / asked)
    losses, negated = torch.nn.functional.softplus(-SCORES), torch.nn.functional.softplus(SCORES)
    average = expected = 0.0
    for x, y in product(range(3), range(Q)):
        confirmed = torch.tensor([y])
        if kind == "ovr":
            row = ovr_ordinary_losses(losses[[x]], negated[[x]], confirmed)
        else:
            row = multiclass_ordinary_losses(losses[[x]], confirmed)
        expected += JOINT[x, y] * row.item()
        none = torch.tensor([-1])
        average += (
            JOINT[x, y] * asked[y] * mix_with_ordinary(torch.tensor(0.0), row, confirmed, weights, 0.0).item()
        )
        average += (
            JOINT[x, y]
            * (1 - asked[y])
            * mix_with_ordinary(torch.tensor(0.0), row, none, weights, 0.0).item()
        )
    assert average == pytest.approx(expected, abs=1e-12)
