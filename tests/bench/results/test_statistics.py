"""Means, significance tests and bold print, against SciPy, enumeration and values worked out by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scarce.bench.results.statistics import best, can_reject, holm, paired_p, summarize
from scarce.errors import MethodError

A = {0: 0.912, 1: 0.905, 2: 0.921, 3: 0.899, 4: 0.917}
B = {0: 0.909, 1: 0.884, 2: 0.923, 3: 0.871, 4: 0.9}


def seeds(*values):
    return dict(enumerate(values))


def test_summarize_divides_variance_by_n_minus_one():
    summary = summarize([0.1, 0.2, 0.6])
    assert summary.mean == pytest.approx(0.3)
    assert summary.std == pytest.approx(0.07**0.5)  # (0.04 + 0.01 + 0.09) / 2
    assert summary.n == 3


def test_summarize_has_no_deviation_for_one_run():
    assert summarize([0.1] * 5).std == 0
    assert summarize([0.4]) == summarize((0.4,))
    assert summarize([0.4]).std is None


def test_paired_t_test_equals_closed_form():
    # Differences 1, 2, 3: mean 2, standard error 1/√3, t = 2√3 with two degrees of freedom.
    t = 2 * 3**0.5
    p = 1 - t / (2 + t**2) ** 0.5  # the closed form for two degrees of freedom, both sides
    assert paired_p(seeds(0.11, 0.22, 0.33), seeds(0.1, 0.2, 0.3)) == pytest.approx(p)


def test_paired_t_test_equals_scipy_over_common_seeds():
    expected = stats.ttest_rel(list(A.values()), list(B.values())).pvalue
    assert paired_p(A, B) == pytest.approx(expected)
    assert paired_p(B, A) == pytest.approx(expected)
    assert paired_p({**A, 9: 0.1}, {4: B[4], 2: B[2], 3: B[3], 0: B[0], 1: B[1], 8: 0.9}) == pytest.approx(
        expected
    )


def test_wilcoxon_equals_scipy_without_ties():
    rng = np.random.default_rng(0)
    for n in (2, 5, 8, 20):
        first, second = rng.random(n), rng.random(n)
        expected = stats.wilcoxon(first, second, method="exact").pvalue
        assert paired_p(seeds(*first), seeds(*second), "wilcoxon") == pytest.approx(expected)


def test_wilcoxon_with_ties_equals_enumeration_of_signs():
    differences = [
        0.1,
        -0.1,
        0.2,
        0.2,
        0.3,
        0.0,
        0.2,
    ]  # as decimals these are not exactly equal in floating point
    first, second = [0.4 + d for d in differences], [0.4] * 7
    ranks = [1.5, 1.5, 4, 4, 6, 4]
    observed = 1.5 + 4 + 4 + 6 + 4
    sums = [
        sum(r for r, taken in zip(ranks, signs, strict=True) if taken) for signs in product([0, 1], repeat=6)
    ]
    upper = sum(s >= observed for s in sums) / 64
    assert paired_p(seeds(*first), seeds(*second), "wilcoxon") == pytest.approx(2 * upper)


def test_wilcoxon_needs_six_seeds():
    for n, can in ((5, False), (6, True)):
        better = paired_p(seeds(*np.linspace(0.6, 0.9, n)), seeds(*np.linspace(0.1, 0.3, n)), "wilcoxon")
        assert (better < 0.05) is can is can_reject(n, "wilcoxon")
    assert can_reject(2, "t")
    assert not can_reject(1, "t")


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_paired_p_handles_equal_and_too_few_runs(test):
    assert paired_p(A, dict(A), test) == 1
    assert paired_p({0: 0.5}, {0: 0.4}, test) is None
    assert paired_p({0: 0.5, 1: 0.5}, {2: 0.4, 3: 0.4}, test) is None


def test_paired_t_test_of_constant_difference_is_zero():
    assert paired_p(seeds(0.3, 0.4, 0.5), seeds(0.2, 0.3, 0.4)) == 0


def test_paired_p_rejects_unknown_test():
    with pytest.raises(MethodError, match="'t' or 'wilcoxon'"):
        paired_p(A, B, "welch")


def test_holm_equals_hand_calculation():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 are 0.02, 0.03, 0.06, 0.04; never decreasing: the last is 0.06.
    assert holm([0.04, 0.005, 0.03, 0.01]) == pytest.approx([0.06, 0.02, 0.06, 0.03])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_step_down_procedure_rejects(p_values):
    rejected = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if not (len(p_values) - step) * p_values[index] < 0.05:
            break
        rejected.add(index)
    assert {index for index, p in enumerate(holm(p_values)) if p < 0.05} == rejected


def test_best_includes_those_not_significantly_worse():
    near = {
        seed: value - 0.001 * (seed - 1) for seed, value in A.items()
    }  # sometimes better, sometimes worse
    far = {seed: value - 0.2 - 0.001 * seed for seed, value in A.items()}
    assert best([far, A, near, {}]) == (False, True, True, False)
    assert best([A, dict(A), far]) == (True, True, False)


def test_best_marks_all_where_test_cannot_differ():
    far = {seed: value - 0.2 - 0.001 * seed for seed, value in A.items()}
    assert best([far, A], "wilcoxon") == (True, True)


def test_best_with_holm_correction_marks_more_cells():
    worse = {
        seed: value - gap for (seed, value), gap in zip(A.items(), (0.01, 0.02, 0.0, 0.02, 0.01), strict=True)
    }
    p = stats.ttest_rel(list(A.values()), list(worse.values())).pvalue
    assert 0.025 < p < 0.05
    column = [A, worse, dict(worse)]
    assert best(column) == (True, False, False)
    assert best(column, correct=True) == (True, True, True)


def test_best_of_single_runs_marks_only_the_highest():
    assert best([{0: 0.5}, {0: 0.6}, {0: 0.59999}]) == (False, True, False)
    assert best([{0: 0.6}, {0: 0.6}]) == (True, True)


def test_best_without_common_seeds_marks_only_the_highest():
    assert best([{0: 0.5, 1: 0.52}, {2: 0.51, 3: 0.52}]) == (False, True)


def test_best_includes_winner_on_all_common_seeds():
    easy = {seed: 0.5 + 0.01 * seed for seed in range(4)} | {
        9: 0.99
    }  # the best mean, thanks to a seed of its own
    hard = {seed: value + 0.02 + 0.001 * seed for seed, value in easy.items() if seed != 9}
    assert paired_p(easy, hard) < 0.05
    assert best([easy, hard]) == (True, True)


def test_best_compares_constant_runs():
    constant = dict.fromkeys(range(5), 0.1)
    assert best([constant, dict.fromkeys(range(5), 0.2), constant]) == (False, True, False)


def test_best_of_empty_column_marks_none():
    assert best([{}, {}]) == (False, False)
