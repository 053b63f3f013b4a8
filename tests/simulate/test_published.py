"""Published transition matrices: exact values, printed digits and induced rates."""

from itertools import product

import numpy as np
import pytest
from helpers.label_shares import total_variation

from scarce.errors import LabelError, MethodError
from scarce.simulate import (
    BIASED_A,
    BIASED_B,
    SCAR_A,
    SCAR_A_RATES,
    SCAR_B,
    SCAR_B_RATES,
    noisy_transition,
    strong_transition,
    weak_transition,
)

# As printed, to three decimals: h .250 or .220, m .043 or .080, l .040 or .033.
PRINTED = [
    "0hmlmlhlhm",
    "m0hmlmlhlh",
    "hm0hmlmlhl",
    "lhm0hmlmlh",
    "hlhm0hmlml",
    "lhlhm0hmlm",
    "mlhlhm0hml",
    "lmlhlhm0hm",
    "mlmlhlhm0h",
    "hmlmlhlhm0",
]


# T[y, k] of SCAR-a and SCAR-b by the nominal rates of y and k, worked out independently.
GOLDEN = {
    (0.05, 0.05): 0.047138047138, (0.05, 0.1): 0.100168350168, (0.05, 0.2): 0.228956228956,
    (0.1, 0.05): 0.049777777778, (0.1, 0.1): 0.105777777778, (0.1, 0.2): 0.241777777778,
    (0.2, 0.05): 0.057613168724, (0.2, 0.1): 0.122427983539, (0.2, 0.2): 0.279835390947,
}  # fmt: skip


INDUCED = {0.05: 0.045575158997, 0.1: 0.096286270108, 0.2: 0.216277141788}


@pytest.mark.parametrize(
    ("matrix", "exact", "printed", "condition", "low", "high", "variation"),
    [
        (BIASED_A, (0.75, 0.13, 0.12), (0.250, 0.043, 0.040), 5.77, 0.36, 2.25, 0.4167),
        (BIASED_B, (0.66, 0.24, 0.10), (0.220, 0.080, 0.033), 7.21, 0.30, 1.98, 0.3267),
    ],
)
def test_biased_matrices_match_printed_digits_in_exact_thirds(
    matrix, exact, printed, condition, low, high, variation
):
    digits = {"0": (0.0, 0.0), **dict(zip("hml", zip(exact, printed, strict=True), strict=True))}
    for y, k in product(range(10), repeat=2):
        third, rounded = digits[PRINTED[y][k]]
        assert matrix[y, k] == third / 3
        assert abs(matrix[y, k] - rounded) < 3.4e-4
    assert np.allclose(matrix.sum(0), 1, atol=1e-15)
    assert np.allclose(matrix.sum(1), 1, atol=1e-15)
    assert np.linalg.cond(matrix) == pytest.approx(condition, abs=0.005)
    ratio = matrix[~np.eye(10, dtype=bool)] * 9  # c_k = π̄_k / (1 − π_k) = 1 / 9
    assert ratio.min() == pytest.approx(low)
    assert ratio.max() == pytest.approx(high)
    assert total_variation(matrix) == pytest.approx(variation, abs=5e-5)


@pytest.mark.parametrize(("matrix", "rates"), [(SCAR_A, SCAR_A_RATES), (SCAR_B, SCAR_B_RATES)])
def test_scar_a_and_b_match_golden_matrices_and_induced_rates(matrix, rates):
    for y, k in product(range(10), repeat=2):
        expected = 0 if y == k else GOLDEN[rates[y], rates[k]]
        assert matrix[y, k] == pytest.approx(expected, abs=1e-12)
    assert matrix.mean(0) == pytest.approx([INDUCED[rate] for rate in rates], abs=1e-12)
    # SCAR is evaluated at the induced rates, c = π̄ / .9, as a user of the labels would.
    ratio = (matrix / (matrix.mean(0) / 0.9))[~np.eye(10, dtype=bool)]
    assert (ratio.min(), ratio.max()) == pytest.approx((0.931, 1.164), abs=5e-4)
    assert total_variation(matrix) == pytest.approx(0.0321, abs=5e-5)


def test_scar_a_and_b_are_permutations_of_each_other():
    assert sorted(SCAR_A_RATES) == sorted(SCAR_B_RATES)
    a, b = np.argsort(SCAR_A_RATES, kind="stable"), np.argsort(SCAR_B_RATES, kind="stable")
    assert np.allclose(SCAR_A[np.ix_(a, a)], SCAR_B[np.ix_(b, b)], atol=1e-15)


@pytest.mark.parametrize(
    ("make", "levels"), [(weak_transition, (0.45, 0.30, 0.25)), (strong_transition, (0.75, 0.24, 0.01))]
)
def test_weak_and_strong_matrices_have_three_levels_per_row(make, levels):
    matrix = make(10, seed=4)
    assert not matrix.diagonal().any()
    for row in matrix:
        assert np.sort(row) == pytest.approx([0, *sorted(np.repeat(levels, 3) / 3)])
    orders = {tuple(np.argsort(np.delete(row, y), kind="stable")) for y, row in enumerate(matrix)}
    assert len(orders) > 5  # shuffled row by row
    assert not np.array_equal(matrix, make(10, seed=5))
    assert np.array_equal(matrix, make(10, seed=4))


def test_weak_and_strong_matrices_require_three_equal_groups():
    assert weak_transition(7).sum(1) == pytest.approx(np.ones(7))
    with pytest.raises(LabelError, match="three equal groups"):
        strong_transition(5)


def test_noisy_transition_mixes_base_with_uniform_labels():
    matrix = noisy_transition(0.2)
    assert matrix.diagonal() == pytest.approx([0.02] * 10)
    assert matrix.sum(1) == pytest.approx(np.ones(10))
    assert matrix == pytest.approx(0.8 * strong_transition() + 0.02)
    with pytest.raises(MethodError, match="'strong', 'weak' or a transition"):
        noisy_transition(0.2, "storng")


def test_published_constants_are_read_only():
    for array in (BIASED_A, BIASED_B, SCAR_A, SCAR_B, SCAR_A_RATES, SCAR_B_RATES):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
