"""Comparing mechanisms by the likelihood of held-out labels."""

import numpy as np
import pytest
import torch
from helpers.mechanisms import CYCLIC, Y, confident_predictor

from scarce import ComplementaryLabels
from scarce.estimators.auto.class_dependence import compare_mechanisms, scar_from_priors
from scarce.estimators.auto.learners import make_folds
from scarce.priors import candidate_shares
from scarce.simulate import from_transition, scar, scar_single, uniform


def gains_of_twenty_seeds(draw):
    """Gains of mechanisms on 400 examples, with calibrated predictions that are right for 70 %."""
    y = Y[:400]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        named = np.where(rng.random(400) < 0.7, y, rng.permutation(y))
        p = torch.from_numpy(0.7 * np.eye(4)[named] + 0.3 * np.array([0.4, 0.3, 0.2, 0.1]))
        yield compare_mechanisms(draw(y, seed), p, make_folds(400, seed=seed))


@pytest.mark.parametrize(
    ("draw", "is_uniform", "depends_on_class"),
    [
        (lambda y, seed: uniform(y, seed=seed), True, False),
        (lambda y, seed: scar_single(y, c=[0.1, 0.2, 0.3, 0.5], seed=seed), False, False),
        (lambda y, seed: scar(y, c=[0.2, 0.6, 0.4, 0.3], seed=seed), False, False),
        (lambda y, seed: from_transition(y, CYCLIC, seed=seed), False, True),
    ],
)
def test_compare_mechanisms_identifies_mechanism_by_held_out_labels(draw, is_uniform, depends_on_class):
    """Superfluous parameters may seem useful by chance in a few of twenty samples; necessary ones always do."""
    found = [(gains.is_uniform, gains.depends_on_class) for gains in gains_of_twenty_seeds(draw)]
    assert found.count((is_uniform, depends_on_class)) >= (20 if depends_on_class else 16)


def test_compare_mechanisms_equals_slow_loop():
    y = Y[:60]
    T = [[0, 0.5, 0.3, 0.2], [0.6, 0, 0.2, 0.2], [0.2, 0.2, 0, 0.6], [0.4, 0.3, 0.3, 0]]
    labels, p = from_transition(y, T), confident_predictor(y, 4, 0.6)(None)
    fold, rest = np.arange(20), np.arange(20, 60)
    scar_of = scar_from_priors(labels[rest], torch.from_numpy(p[rest].mean(axis=0)))
    w, k = scar_of.exclusion_probabilities.numpy(), labels.indices
    expected = 0.0
    for i in fold:
        under_scar = sum(p[i, c] * w[k[i]] / (1 - w[c]) for c in range(4) if c != k[i])
        expected += np.log(under_scar) - np.log(sum(p[i, c] / 3 for c in range(4) if c != k[i]))
    assert compare_mechanisms(labels, torch.from_numpy(p), [fold]).scar == pytest.approx(expected, abs=1e-6)


def test_scar_from_priors_is_finite_for_class_excluded_almost_always():
    labels = ComplementaryLabels.from_lists([[0, 1]] * 9 + [[]], classes=3)
    assert torch.isfinite(
        scar_from_priors(labels, torch.from_numpy(candidate_shares(labels))).log_likelihood(labels)
    ).all()
