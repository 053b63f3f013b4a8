"""Labels that come one at a time by design, and those that only happen to."""

from math import comb, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.labels import ComplementaryLabels
from scarce.labels.single_label import is_single_label
from scarce.simulate import scar, uniform


@pytest.mark.parametrize("n_empty", [0, 1, 500, 2000])
def test_single_labels_are_known_as_such_however_many_examples_have_none(n_empty):
    labels = uniform(np.arange(1000) % 4, classes=4, seed=0)
    rows = [*(np.nonzero(row)[0].tolist() for row in labels.indicator()), *([[]] * n_empty)]
    assert is_single_label(ComplementaryLabels.from_lists(rows, classes=4))


@pytest.mark.parametrize(("q", "rate"), [(2, 0.4), (4, 0.02), (4, 0.5)])
def test_independent_labels_are_not_single(q, rate):
    """Of two classes an example can exclude one at most; at low rates a few exclude two."""
    assert not is_single_label(scar(np.arange(5000) % q, rates=rate, classes=q, seed=0))


def test_where_a_pair_would_be_chance_none_is_no_proof():
    """With 30 labels on 1,000 examples 0.3 examples with two are to be expected, and none with the probability 0.7."""
    rows = [[k % 4] for k in range(30)] + [[]] * 970
    assert not is_single_label(ComplementaryLabels.from_lists(rows, classes=4))
    assert exp(-0.3) > 0.5


@given(st.integers(1, 400), st.integers(1, 400), st.integers(2, 6))
def test_single_labels_are_told_by_how_many_pairs_chance_would_make(n_labelled, n_empty, q):
    """All classes alike: c = r q / (q − 1), and an example of q − 1 wrong classes has two or more with 1 − P(0) − P(1)."""
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
def test_few_examples_are_single_only_if_each_has_one_label(rows, single):
    assert is_single_label(ComplementaryLabels.from_lists(rows, classes=3)) is single
