"""Transition matrices: closed forms against their definitions, and errors."""

from itertools import product

import numpy as np
import pytest
from helpers.label_shares import total_variation
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.simulate import (
    BIASED_A,
    biased_transition,
    scar_single_transition,
    scar_unequal,
    uniform_transition,
    with_errors,
)


@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=5))
def test_scar_single_transition_equals_draws_given_one_success(c):
    q = len(c)
    expected = np.zeros((q, q))
    for y in range(q):
        wrong = [k for k in range(q) if k != y]
        for outcome in product([0, 1], repeat=q - 1):
            probability = np.prod([c[k] if hit else 1 - c[k] for k, hit in zip(wrong, outcome, strict=True)])
            if sum(outcome) == 1:
                expected[y, wrong[outcome.index(1)]] += probability
        expected[y] /= expected[y].sum()
    assert np.allclose(scar_single_transition(c), expected, atol=1e-12)


def test_scar_single_transition_of_equal_c_is_uniform():
    assert np.allclose(scar_single_transition([0.3] * 4), uniform_transition(4), atol=1e-15)
    assert total_variation(uniform_transition(10)) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("c", [[1, 0.5], [0.5, 0, 0], 0.5, [0.5], [0.5, -0.1], [0.5, float("nan")], "ab"])
def test_scar_single_transition_rejects_invalid_c(c):
    with pytest.raises(MethodError):
        scar_single_transition(c)


def test_with_errors_keeps_proportions_off_the_diagonal():
    assert with_errors(uniform_transition(5), 0.2)[0] == pytest.approx([0.2] * 5)
    once = with_errors(BIASED_A, 0.04)
    assert once.diagonal() == pytest.approx([0.04] * 10)
    assert (once - np.diag(once.diagonal())) == pytest.approx(0.96 * BIASED_A)
    assert with_errors(once, 0) == pytest.approx(BIASED_A)
    with pytest.raises(MethodError, match="only the true class"):
        with_errors(np.eye(3), 0.1)
    with pytest.raises(MethodError, match="at least two classes"):
        with_errors(1, 0.1)


@pytest.mark.parametrize(
    ("q", "row"),
    [
        (2, [1.0]),
        (3, [0.13 / 0.88, 0.75 / 0.88]),
        (4, [0.12, 0.13, 0.75]),
        (6, [0.12, 0.13 / 2, 0.13 / 2, 0.75 / 2, 0.75 / 2]),  # five wrong classes: groups of 2, 2 and 1
    ],
)
def test_biased_transition_shares_three_weights_among_wrong_classes(q: int, row: list[float]) -> None:
    transition = biased_transition(q, seed=3)
    assert np.diag(transition).tolist() == [0.0] * q
    for y in range(q):
        assert sorted(np.delete(transition[y], y)) == pytest.approx(sorted(row))


def test_biased_transition_and_scar_unequal_depend_on_seed() -> None:
    assert not np.array_equal(biased_transition(7, seed=0), biased_transition(7, seed=1))
    y = np.arange(60_000) % 6
    rates = [scar_unequal(y, seed=seed).rates * 6 / 5 for seed in (0, 1)]
    for found in rates:
        assert sorted(found) == pytest.approx(np.linspace(0.1, 0.5, 6), abs=0.01)
    assert rates[0].argsort().tolist() != rates[1].argsort().tolist()
