"""Turn uniform random numbers into labels, block by block.

NumPy supplies only uniform numbers, which are compared with probabilities. A seed therefore gives the same labels on every
machine, even if a new version of NumPy samples its distributions differently. Changing the order in which numbers are drawn, or
the size of a block, changes the labels of a seed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Truth
from scarce._validation import check_integer
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels

Draw = Callable[[np.random.Generator, IntArray], BoolArray]

_BLOCK_CELLS = 1 << 20  # cells of an examples × classes block: 8 MB of uniforms, independent of n
_MAX_REDRAWS = 1000


def make_generator(seed: Any) -> np.random.Generator:
    """Return the random generator of a seed.

    Examples
    --------
    >>> round(make_generator(0).random(), 6)
    0.636962
    """
    return np.random.Generator(np.random.PCG64(check_integer("seed", seed, 0)))


def second_seed(seed: Any) -> int:
    """Return a second seed derived from `seed`, for parameters that are drawn independently of the labels.

    Examples
    --------
    >>> second_seed(0) == second_seed(0) != second_seed(1)
    True
    """
    return int(np.random.SeedSequence((check_integer("seed", seed, 0), 1)).generate_state(1)[0])


def row_blocks(truth: Truth) -> Iterator[slice]:
    """Yield slices of the examples, so that a block of examples × classes has bounded size."""
    rows = max(1, _BLOCK_CELLS // truth.n_classes)
    for start in range(0, len(truth.codes), rows):
        yield slice(start, start + rows)


def draw_labels(truth: Truth, draw: Draw, seed: Any) -> ComplementaryLabels:
    """Draw the labels of all examples.

    `draw` maps the true classes of a block, shape (b,), to a boolean mask of exclusions, shape (b, q). Every example belongs to one
    of the classes, so rows that exclude all of them are drawn again.
    """
    random = make_generator(seed)
    lengths, columns = [], []
    for block in row_blocks(truth):
        codes = truth.codes[block]
        excluded = draw(random, codes)
        for _ in range(_MAX_REDRAWS):
            excludes_all = np.flatnonzero(excluded.all(axis=1))
            if not len(excludes_all):
                break
            excluded[excludes_all] = draw(random, codes[excludes_all])
        else:
            raise MethodError(
                f"row {block.start + excludes_all[0]} still excludes every class after {_MAX_REDRAWS} draws; "
                "lower the exclusion probabilities, the error rate or the number of draws."
            )
        lengths.append(np.count_nonzero(excluded, axis=1))
        columns.append((np.flatnonzero(excluded) % truth.n_classes).astype(np.int32))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return ComplementaryLabels(indptr, np.concatenate(columns), truth.classes)


def cumulative_distribution(probabilities: FloatArray) -> FloatArray:
    """Return the cumulative distribution of every row of probabilities, ending in exactly one.

    Examples
    --------
    >>> cumulative_distribution(np.array([[0.1, 0.2, 0.7]])).round(3).tolist()
    [[0.1, 0.3, 1.0]]
    """
    sums = np.cumsum(probabilities, axis=1)
    return sums / sums[:, -1:]


def sample_categorical(cumulative: FloatArray, rows: IntArray, uniforms: FloatArray) -> IntArray:
    """Sample by inverting the cumulative distribution: the first k with ``cumulative[row, k] > u``, found by bisection.

    `rows` has shape (b,), and `uniforms` and the result shape (b, m).

    Examples
    --------
    >>> cumulative = cumulative_distribution(np.array([[0.0, 0.5, 0.5]]))
    >>> sample_categorical(cumulative, np.array([0]), np.array([[0.0, 0.49, 0.5]])).tolist()
    [[1, 1, 2]]
    """
    low = np.zeros(uniforms.shape, np.int64)
    high = np.full(uniforms.shape, cumulative.shape[1] - 1)
    for _ in range((cumulative.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        is_below = cumulative[rows[:, None], middle] <= uniforms
        low = np.where(is_below, middle + 1, low)
        high = np.where(is_below, high, middle)
    return low


def sample_subset(uniforms: FloatArray, allowed: BoolArray, sizes: IntArray) -> BoolArray:
    """Sample a subset of the allowed classes of every row, uniformly among all subsets of the given size.

    Classes are visited in order and chosen with probability (still needed) / (still available). This makes all subsets of that
    size equally likely without sorting. `uniforms` has shape (b, q) or more columns, `allowed` and the result (b, q), and `sizes`
    (b,).

    Examples
    --------
    >>> sample_subset(np.array([[0.1, 0.9, 0.9, 0.2]]), np.array([[1, 1, 0, 1]], bool), np.array([2])).tolist()
    [[True, False, False, True]]
    """
    chosen = np.zeros(allowed.shape, bool)
    needed, available = sizes.astype(np.int64), np.count_nonzero(allowed, axis=1)
    for k in range(allowed.shape[1]):
        chosen[:, k] = allowed[:, k] & (uniforms[:, k] * available < needed)
        needed -= chosen[:, k]
        available -= allowed[:, k]
    return chosen
