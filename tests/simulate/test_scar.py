"""Labels drawn under SCAR: independent draws, target rates, single labels and errors."""

import numpy as np
from helpers.label_shares import exclusion_shares, within_five_errors

from scarce.simulate import scar, scar_single, scar_single_transition


def test_scar_single_agrees_with_rejection_sampling():
    c, q, n = np.array([0.2, 0.6, 0.35, 0.1]), 4, 4000
    random = np.random.default_rng(5)
    shares = np.zeros((q, q))
    for y in range(q):
        for _ in range(n):
            drawn = []
            while len(drawn) != 1:
                drawn = [k for k in range(q) if k != y and random.random() < c[k]]
            shares[y, drawn[0]] += 1 / n
    assert within_five_errors(shares, scar_single_transition(c), n)
    y = np.arange(q * n) % q
    assert within_five_errors(exclusion_shares(scar_single(y, c=c), y), scar_single_transition(c), n)


def test_scar_single_converts_rates_to_c_by_class_shares():
    y = np.repeat([0, 1, 2], [50_000, 30_000, 20_000])
    c = np.array([0.3, 0.5, 0.2])
    assert scar_single(y, c * [0.5, 0.7, 0.8], seed=8) == scar_single(y, c=c, seed=8)


def test_scar_rates_are_equal_for_every_true_class():
    c, y = np.array([0.1, 0.5, 0.9, 0.3]), np.repeat([0, 1, 2, 3], [60_000, 20_000, 15_000, 5_000])
    expected = np.tile(c, (4, 1)) * (1 - np.eye(4))
    got = exclusion_shares(scar(y, c=c), y)
    for row, rate, n in zip(got, expected, (60_000, 20_000, 15_000, 5_000), strict=True):
        assert within_five_errors(row, rate, n)


def test_scar_excludes_classes_independently():
    y = np.zeros(50_000, int)
    excluded = scar(y, c=[0.5, 0.3, 0.6], classes=3).indicator()
    assert within_five_errors((excluded[:, 1] & excluded[:, 2]).mean(), np.array(0.18), len(y))
    assert within_five_errors((~excluded[:, 1] & ~excluded[:, 2]).mean(), np.array(0.28), len(y))


def test_scar_meets_target_rates():
    y = np.arange(100_000) % 10
    labels = scar(y, rates=0.5)  # c = .5556, the setting of the prior-estimation study
    assert within_five_errors(labels.rates, np.full(10, 0.5), len(y))
    assert within_five_errors(exclusion_shares(labels, y)[0, 1:], np.full(9, 5 / 9), 10_000)
    extreme = scar([0, 1, 1, 1], rates=[0.75, 0.25])
    assert extreme.indicator(dtype=int).tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]
    assert scar([0, 0], rates=[0, 1], classes=2).indices.tolist() == [1, 1]  # 1 − π_0 = 0 constrains nothing


def test_scar_error_rate_excludes_true_class():
    y = np.arange(100_000) % 10
    got = exclusion_shares(scar(y, c=0.2, error_rate=0.04), y)
    assert within_five_errors(got.diagonal(), np.full(10, 0.04), 10_000)
    assert within_five_errors(got[~np.eye(10, dtype=bool)], np.full(90, 0.2), 10_000)
