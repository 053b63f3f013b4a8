"""The numbers of every estimator of class priors and its main variants."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from helpers.fingerprints import TEN_DIGITS, uncovered, waves
from torch import nn

from scarce.errors import PriorWarning
from scarce.labels import ComplementaryLabels
from scarce.priors import PRIOR_ESTIMATORS, make_estimator
from scarce.training import Recipe

WHERE = "`revision` of {name!r} to {revision} in its class"

N, D, Q = 240, 4, 3
TRUTH = np.arange(N) * 7 // 3 % 10 // 4  # shares of 0.4, 0.4 and 0.2
FLOAT32 = 1e-6  # relative: float32 training differs slightly between machines
SHORT = Recipe(epochs=6, batch_size=32, learning_rate=0.02)


class Case(NamedTuple):
    """An estimator and the tolerance of its numbers; by default it trains a float64 network."""

    name: str
    params: dict[str, Any]
    own_network: bool = False
    tolerance: float = TEN_DIGITS


def case(name: str, **params: Any) -> Case:
    return Case(name, {"bootstrap": 20, "recipe": SHORT} | params)


def feature_based(name: str, **params: Any) -> Case:
    return Case(name, params)


def float32_case(name: str, **params: Any) -> Case:
    return Case(name, {"bootstrap": 0} | params, own_network=True, tolerance=FLOAT32)


CASES: dict[str, Case] = {
    "best-bin": case("best-bin"),
    "best-bin, network of its own": float32_case("best-bin"),
    "best-bin, rest": case("best-bin", unlabeled="rest"),
    "best-bin, one fold": case("best-bin", folds=1),
    "best-bin, last three epochs": case("best-bin", last=3),
    "best-bin, drawn towards equal priors": case("best-bin", shrink=True),
    "best-bin, other confidence and slack": case("best-bin", delta=0.3, gamma=0.05),
    "best-bin, another seed": case("best-bin", seed=5),
    "best-bin, linear scorer": float32_case("best-bin", scorer="linear"),
    "dedpul": case("dedpul"),
    "dedpul, network of its own": float32_case("dedpul"),
    "dedpul, rest": case("dedpul", unlabeled="rest"),
    "dedpul, linear scorer": float32_case("dedpul", scorer="linear"),
    "elkan-noto": case("elkan-noto"),
    "elkan-noto, network of its own": float32_case("elkan-noto", folds=1),
    "elkan-noto, linear scorer": float32_case("elkan-noto", scorer="linear"),
    "elkan-noto, boosted trees": float32_case("elkan-noto", scorer="boosting", folds=1),
    "kernel-mean": feature_based("kernel-mean"),
    "kernel-mean, rest": feature_based("kernel-mean", unlabeled="rest"),
    "kernel-mean, few points": feature_based("kernel-mean", n_points=60, seed=1),
    "tice": feature_based("tice"),
    "tice, one split": feature_based("tice", max_splits=1),
    "tice, few rows, resampled": feature_based("tice", n_rows=120, bootstrap=10, seed=1),
}


def _data() -> tuple[Any, ComplementaryLabels]:
    """Clouds that overlap a little; each wrong class is excluded with a probability of about 0.4."""
    X = 1.6 * np.eye(Q, D)[TRUTH] + waves(N, D).numpy()
    chance = (waves(N, Q, phase=0.4).acos() / torch.pi).numpy()
    return X, ComplementaryLabels.from_indicator((chance < 0.45) & (TRUTH[:, None] != np.arange(Q)))


def _network(seed: int) -> nn.Module:
    network = nn.Sequential(nn.Linear(D, 6), nn.Tanh(), nn.Linear(6, Q)).double()
    with torch.no_grad():
        for phase, weights in enumerate(network.parameters()):
            weights.copy_(0.5 * waves(*weights.shape, phase=phase + seed))
    return network


@pytest.mark.parametrize("label", CASES)
def test_estimator_numbers_match_fingerprint(label, fingerprints):
    case, (X, labels) = CASES[label], _data()
    estimator = make_estimator(case.name, **case.params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorWarning)  # there are too few rows for good estimates
        estimate = estimator.estimate(X, labels, make_model=None if case.own_network else _network)
    numbers = {"values": estimate.values, "raw": estimate.raw}
    if estimate.low is not None:
        numbers |= {"low": estimate.low, "high": estimate.high}
    fingerprints.check(label, case.name, estimator.revision, numbers, tolerance=case.tolerance)


def test_estimators_all_have_fingerprints():
    assert not uncovered(PRIOR_ESTIMATORS, CASES, lambda case: case.name)
