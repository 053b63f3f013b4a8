"""Detection of labels that are single by design, and not by chance."""

from math import comb, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.simulate import scar, uniform


@pytest.mark.parametrize("n_empty", [0, 1, 500, 2000])
def test_is_single_label_ignores_examples_without_labels(n_empty):
    labels = uniform(np.arange(1000) % 4, classes=4, seed=0)
    rows = [*(np.nonzero(row)[0].tolist() for row in labels.indicator()), *([[]] * n_empty)]
    assert is_single_label(ComplementaryLabels.from_lists(rows, classes=4))


@pytest.mark.parametrize(("q", "rate"), [(2, 0.4), (4, 0.02), (4, 0.5)])
def test_is_single_label_is_false_for_independent_labels(q, rate):
    """With two classes, an example can exclude at most one; at low rates a few exclude two."""
    assert not is_single_label(scar(np.arange(5000) % q, rates=rate, classes=q, seed=0))


def test_is_single_label_is_false_where_pairs_are_unlikely_by_chance():
    """With 30 labels on 1,000 examples, 0.3 examples with two labels are expected; none occur with probability 0.7."""
    rows = [[k % 4] for k in range(30)] + [[]] * 970
    assert not is_single_label(ComplementaryLabels.from_lists(rows, classes=4))
    assert exp(-0.3) > 0.5


@given(st.integers(1, 400), st.integers(1, 400), st.integers(2, 6))
def test_is_single_label_compares_with_expected_number_of_pairs(n_labelled, n_empty, q):
    """Equal classes: c = r q / (q − 1); an example with q − 1 wrong classes has two or more labels with 1 − P(0) − P(1)."""
    rows = [[k % q] for k in range(n_labelled * q)] + [[]] * (n_empty * q)
    n, c = len(rows), n_labelled / (n_labelled + n_empty) / (q - 1)
    several = sum(comb(q - 1, m) * c**m * (1 - c) ** (q - 1 - m) for m in range(2, q))
    if abs(n * several - 5) > 1e-6:
        assert is_single_label(ComplementaryLabels.from_lists(rows, classes=q)) == (n * several > 5)


@pytest.mark.parametrize(
    ("rows", "single"),
    [
        ([[0]], True),
        ([[0], [1]], True),
        ([[]], False),
        ([[0, 1]], False),
        ([[0], [0, 1]], False),
        ([[0], []], False),
    ],
)
def test_is_single_label_of_few_examples_needs_one_label_each(rows, single):
    assert is_single_label(ComplementaryLabels.from_lists(rows, classes=3)) is single
