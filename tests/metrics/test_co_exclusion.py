"""The co-exclusion test of SCAR against values by hand, a slow loop and simulated labels."""

from itertools import combinations

import numpy as np
import pytest

from scarce import ComplementaryLabels
from scarce.errors import LabelError, PriorError
from scarce.metrics import co_exclusion_test
from scarce.simulate import scar, uniform


def test_co_exclusion_test_matches_value_by_hand():
    labels = ComplementaryLabels.from_lists([[0, 1], []] * 50, classes=3)
    found = co_exclusion_test(labels, [0.0, 0.0, 1.0])
    # r = 1/2, covariance 1/4, no contribution of the priors: z = √100 · (1/4) / (1/4) = 10
    assert found.statistic == pytest.approx(100)
    assert found.excess == pytest.approx(0.99)
    assert (found.n_pairs, found.rejects_scar) == (1, True)


def test_co_exclusion_test_equals_slow_loop():
    random = np.random.default_rng(0)
    excluded = random.random((60, 5)) < [0.1, 0.3, 0.5, 0.2, 0.4]
    excluded[excluded.all(axis=1)] = False
    pi = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    rates = excluded.mean(axis=0)
    squares = []
    for k, l in combinations(range(5), 2):  # noqa: E741
        covariance = (excluded[:, k] & excluded[:, l]).mean() - rates[k] * rates[l]
        c_pi = [rates[j] / (1 - pi[j]) * pi[j] for j in (k, l)]
        spread = np.sqrt(rates[k] * (1 - rates[k]) * rates[l] * (1 - rates[l]))
        squares.append((np.sqrt(60) * (covariance + c_pi[0] * c_pi[1]) / spread) ** 2)
    found = co_exclusion_test(ComplementaryLabels.from_indicator(excluded), pi)
    assert found.statistic == pytest.approx(np.mean(squares))
    assert found.n_pairs == 10


@pytest.mark.parametrize("seed", range(5))
def test_co_exclusion_test_accepts_scar_labels(seed):
    y = np.random.default_rng(seed).choice(6, 3000, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    labels = scar(y, c=[0.1, 0.5, 0.3, 0.7, 0.2, 0.4], seed=seed)
    found = co_exclusion_test(labels, np.bincount(y) / len(y))
    assert not found.rejects_scar
    assert found.statistic < 3


@pytest.mark.parametrize("seed", range(5))
def test_co_exclusion_test_rejects_candidate_sets_of_similar_classes(seed):
    # Candidates are the true class and, half of the time, the next class.
    random = np.random.default_rng(seed)
    y = random.integers(6, size=1000)
    candidates = np.eye(6, dtype=int)[y]
    confused = random.random(1000) < 0.5
    candidates[confused, (y[confused] + 1) % 6] = 1
    found = co_exclusion_test(ComplementaryLabels.from_candidates(candidates), np.full(6, 1 / 6))
    assert found.rejects_scar


def test_co_exclusion_test_ignores_ordinary_labels_and_unused_classes():
    lists, classes = [[0, 1], [], [0], [1]] * 25, np.arange(3)
    alone = ComplementaryLabels.from_lists(lists, classes=3)
    ordinary = np.concatenate([np.full(100, -1), np.full(40, 2)])
    both = ComplementaryLabels(
        np.concatenate([alone.indptr, np.full(40, alone.indptr[-1])]), alone.indices, classes, None, ordinary
    )
    assert co_exclusion_test(both, [0.2, 0.2, 0.6]) == co_exclusion_test(alone, [0.2, 0.2, 0.6])
    assert co_exclusion_test(alone, [0.2, 0.2, 0.6]).n_pairs == 1  # the third is never excluded


@pytest.mark.parametrize("n", [9, 10, 18])
def test_co_exclusion_test_ignores_class_that_every_example_excludes(n):
    """The mean of n ones may be rounded up to more than one."""
    found = co_exclusion_test(ComplementaryLabels.from_lists([[0, 2], [1, 2]] * n, classes=4), [0.25] * 4)
    assert found.n_pairs == 1
    assert np.isfinite(found.statistic)


def test_co_exclusion_test_raises_for_unsuitable_labels():
    with pytest.raises(LabelError, match="no example excludes two classes"):
        co_exclusion_test(uniform([0, 1, 2] * 10), [1 / 3] * 3)
    with pytest.raises(PriorError, match=r"sum to 1\.5"):
        co_exclusion_test(ComplementaryLabels.from_lists([[0, 1]], classes=3), [0.5] * 3)
