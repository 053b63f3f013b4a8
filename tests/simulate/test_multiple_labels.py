"""Sets of labels that are uniform given their size."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from helpers.label_shares import within_five_errors

from scarce.simulate import uniform_multiple


@pytest.mark.parametrize(
    ("sizes", "size_probabilities"),
    [
        (None, [4 / 15, 6 / 15, 4 / 15, 1 / 15]),
        (2, [0, 1, 0, 0]),
        ([0.5, 0.1, 0.4, 0], [0.5, 0.1, 0.4, 0]),
    ],
)
def test_uniform_multiple_draws_sets_of_equal_size_equally_often(sizes, size_probabilities):
    q, y, n = 5, 2, 60_000
    excluded = uniform_multiple(np.full(n, y), sizes=sizes, classes=q).indicator()
    number = excluded @ (1 << np.arange(q))
    seen = 0
    for s in range(1, q):
        for subset in combinations([k for k in range(q) if k != y], s):
            share = (number == sum(1 << k for k in subset)).mean()
            assert within_five_errors(share, np.array(size_probabilities[s - 1] / comb(4, s)), n)
            seen += share
    assert seen == pytest.approx(1)
