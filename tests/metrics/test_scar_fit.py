"""The test of SCAR given the predicted class, on whole populations, planted violations and many draws."""

import numpy as np
import pytest
from helpers.populations import (
    LABEL_KINDS,
    PRIORS,
    draw_predictions,
    whole_population,
    whole_population_with_errors,
)

from scarce.labels import ComplementaryLabels
from scarce.metrics._confusion import tally_labels
from scarce.metrics._scar_fit import fit_scar
from scarce.simulate import biased_a, uniform


def test_fit_scar_accepts_population_under_scar():
    tallies = tally_labels(*whole_population())
    assert fit_scar(tallies, PRIORS, 0.0, False).statistic == pytest.approx(0, abs=1e-9)
    assert fit_scar(tallies, None, 0.0, False).statistic < 0.01  # priors are estimated
    assert fit_scar(tallies, PRIORS[::-1].copy(), 0.0, False).statistic > 1


@pytest.mark.parametrize("error", [0.05, 0.1])
def test_fit_scar_accepts_population_with_known_errors(error):
    tallies = tally_labels(*whole_population_with_errors(error))
    assert fit_scar(tallies, PRIORS, error, True).statistic == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("priors", [None, np.full(4, 0.25)], ids=["estimated", "given"])
def test_fit_scar_names_planted_violation(priors):
    """All examples predicted as 3 exclude 0; the others exclude any wrong class."""
    y = np.arange(1200) % 4
    chosen = uniform(y, classes=4, seed=0).indices
    labels = ComplementaryLabels.from_single(np.where(y == 3, 0, chosen), classes=4)
    fit = fit_scar(tally_labels(y, labels), priors, 0.0, True)
    assert fit.rejects_scar
    if priors is not None:  # estimated priors explain this violation, and others remain
        assert (fit.predicted, fit.excluded, fit.rate) == (3, 0, 1.0)
        assert fit.max_rate == pytest.approx((labels.indices == 0).mean() / 0.75)


@pytest.mark.parametrize("kind", ["uniform", "scar"])
def test_fit_scar_seldom_rejects_scar_labels(kind):
    rng, rejected = np.random.default_rng(9), 0
    for seed in range(100):
        y, predicted = draw_predictions(rng, 600)
        tallies = tally_labels(predicted, LABEL_KINDS[kind](y, 6000 + seed))
        surer = rng.random(600) < 0.5
        rejected += fit_scar(tallies, None, 0.0, kind == "uniform").rejects_scar
        rejected += fit_scar(tallies, PRIORS, 0.0, kind == "uniform", surer).rejects_scar
    assert rejected <= 4  # of 200


@pytest.mark.parametrize("seed", range(3))
def test_fit_scar_rejects_biased_labels_for_good_predictions(seed):
    y = np.random.default_rng(seed).integers(0, 10, 2000)
    tallies = tally_labels(y, biased_a(y, classes=10, seed=10 + seed))
    for priors in (None, np.full(10, 0.1)):
        assert fit_scar(tallies, priors, 0.0, True).rejects_scar
        assert not fit_scar(
            tally_labels(y, uniform(y, classes=10, seed=10 + seed)), priors, 0.0, True
        ).rejects_scar


@pytest.mark.parametrize("rows", [[[]] * 50, [[0]] * 50, [[0], [1]] * 3], ids=["nothing", "one class", "few"])
def test_fit_scar_rejects_nothing_with_little_data(rows):
    tallies = tally_labels(np.arange(len(rows)) % 3, ComplementaryLabels.from_lists(rows, classes=3))
    assert not fit_scar(tallies, None, 0.0, True).rejects_scar
