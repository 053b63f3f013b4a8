"""Statistics of repeated runs: means, paired tests, Holm's correction, and which cells are printed in bold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, sem, ttest_1samp

from scarce._validation import check_option

__all__ = [
    "LEVEL",
    "Summary",
    "Test",
    "best",
    "can_reject",
    "format_difference",
    "holm",
    "paired_p",
    "summarize",
]

Test = Literal["t", "wilcoxon"]
LEVEL = 0.05
_DECIMALS = 12  # smaller differences of accuracies are rounding errors


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of n runs (n − 1 in the denominator; None for a single run)."""

    mean: float
    std: float | None
    n: int


def summarize(values: Sequence[float]) -> Summary:
    """Return the mean and standard deviation of one or more runs.

    Examples
    --------
    >>> summarize([0.5, 0.75, 1.0])
    Summary(mean=0.75, std=0.25, n=3)
    >>> summarize([0.5])
    Summary(mean=0.5, std=None, n=1)
    """
    std = round(float(np.std(values, ddof=1)), _DECIMALS) if len(values) > 1 else None
    return Summary(_mean(values), std, len(values))


def paired_p(first: Mapping[int, float], second: Mapping[int, float], test: Test = "t") -> float | None:
    """Return the two-sided p-value of the paired differences over the common seeds; None with fewer than two.

    The t-test assumes normal differences d: t = mean(d) / (std(d) / √n) with n − 1 degrees of freedom. The Wilcoxon
    signed-rank test assumes only that they are symmetric, so every assignment of signs to their ranks has the same probability.
    Its p-value is exact, even with ties; seeds without a difference are dropped.

    Parameters
    ----------
    first, second : mapping
        The accuracy by seed.
    test : {"t", "wilcoxon"}

    Examples
    --------
    >>> a, b = {0: 0.9, 1: 0.8, 2: 0.7}, {0: 0.8, 1: 0.6, 2: 0.4, 3: 0.1}
    >>> round(paired_p(a, b), 4), paired_p(a, b, "wilcoxon")
    (0.0742, 0.25)
    >>> paired_p({0: 0.9}, {0: 0.8}) is None
    True
    """
    check_option("test", test, ("t", "wilcoxon"))
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return None
    differences = np.round([first[seed] - second[seed] for seed in seeds], _DECIMALS)
    if not differences.any():
        return 1.0
    return _t_test(differences) if test == "t" else _wilcoxon_test(differences)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple testing by Holm's step-down method, in the order given.

    The i-th smallest of m becomes the largest of (m − j + 1) p_(j) over j ≤ i, at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.02])
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p_values, kind="stable")
    steps = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps * np.asarray(p_values, float)[order]))
    return [float(value) for value in adjusted]


def best(
    column: Sequence[Mapping[int, float]], test: Test = "t", *, correct: bool = False
) -> tuple[bool, ...]:
    """Return which cells of a column are best: the highest mean, and all that are not significantly worse at 0.05.

    A cell that shares fewer than two seeds with the best cannot be tested; it counts as best only with the same mean.

    Parameters
    ----------
    column : sequence of mappings
        The accuracy of each row by seed; empty without results.
    test : {"t", "wilcoxon"}
    correct : bool
        Correct the p-values of the column for their number, by Holm's method.

    Examples
    --------
    >>> best([{0: 0.9, 1: 0.8, 2: 0.85}, {0: 0.9, 1: 0.79, 2: 0.86}, {0: 0.4, 1: 0.3, 2: 0.35}, {}])
    (True, True, False, False)
    """
    means = {row: _mean(list(cell.values())) for row, cell in enumerate(column) if cell}
    if not means:
        return (False,) * len(column)
    top = max(means, key=lambda row: means[row])
    tested = {}
    for row in means:
        p = None if means[row] == means[top] else paired_p(column[top], column[row], test)
        if p is not None:
            tested[row] = p
    if correct:
        tested = dict(zip(tested, holm(list(tested.values())), strict=True))
    return tuple(
        row in means
        and (
            means[row] == means[top]
            or (row in tested and not (tested[row] < LEVEL and _is_worse(column[row], column[top])))
        )
        for row in range(len(column))
    )


def can_reject(n: int, test: Test, n_tests: int = 1) -> bool:
    """Return whether the test can reject with n pairs: Wilcoxon's needs six, the t-test two.

    The smallest p-value of Wilcoxon's is 2 · 2⁻ⁿ, which `holm` multiplies by the number of tests.

    Examples
    --------
    >>> can_reject(5, "wilcoxon"), can_reject(6, "wilcoxon"), can_reject(6, "wilcoxon", n_tests=2), can_reject(5, "t")
    (False, True, False, True)
    """
    return n > 1 and (test == "t" or n_tests * 2 * 0.5**n < LEVEL)


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), _DECIMALS)


def _is_worse(cell: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """On the common seeds: where trials are missing, the cell with the higher mean may be worse there."""
    seeds = cell.keys() & other.keys()
    return sum(cell[seed] - other[seed] for seed in seeds) < 0


def _t_test(differences: NDArray[np.float64]) -> float:
    if sem(differences) < 10.0**-_DECIMALS:
        return 0.0  # the same difference for every seed: the limit of a vanishing spread
    return float(ttest_1samp(differences, 0).pvalue)


def _wilcoxon_test(differences: NDArray[np.float64]) -> float:
    # SciPy is exact with ties only by enumerating all 2ⁿ assignments of signs, which takes half a minute for 17 seeds.
    differences = differences[differences != 0]
    # Twice the ranks, so that the half ranks of ties are whole numbers, which can index the sums.
    ranks = (2 * rankdata(np.abs(differences))).astype(int)
    probabilities = np.ones(1)  # probabilities[s]: that the positive ranks sum to s
    for rank in ranks:
        zeros = np.zeros(rank)
        probabilities = (np.concatenate([probabilities, zeros]) + np.concatenate([zeros, probabilities])) / 2
    observed = int(ranks[differences > 0].sum())
    return float(min(1.0, 2 * min(probabilities[: observed + 1].sum(), probabilities[observed:].sum())))


def format_difference(difference: float) -> str:
    """Return a difference with its sign; without one if it is rounded to zero.

    Examples
    --------
    >>> format_difference(0.25), format_difference(-1.5), format_difference(-0.001)
    ('+0.25', '−1.50', '0.00')
    """
    text = f"{difference:+.2f}"
    return "0.00" if text[1:] == "0.00" else text.replace("-", "−")
