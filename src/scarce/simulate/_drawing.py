"""From uniform random numbers to labels, block by block.

Only uniforms are taken from NumPy and everything is made of them by comparison, so that a seed gives the same
labels on every machine and under every version of NumPy's distributions. Changing the order in which they are
taken, or the size of a block, changes the labels of a seed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Truth
from scarce._validation import check_integer
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels

__all__ = [
    "Draw",
    "blocks",
    "choose",
    "choose_subset",
    "cumulate",
    "generator",
    "label",
    "second_seed",
]

Draw = Callable[[np.random.Generator, IntArray], BoolArray]

_CELLS = 1 << 20  # cells of an examples × classes block: 8 MB of uniforms, whatever n is
_TRIES = 1000


def generator(seed: Any) -> np.random.Generator:
    """Return the random numbers of a seed.

    Examples
    --------
    >>> round(generator(0).random(), 6)
    0.636962
    """
    return np.random.Generator(np.random.PCG64(check_integer("seed", seed, 0)))


def second_seed(seed: Any) -> int:
    """Return another seed, for parameters that are drawn independently of the labels.

    Examples
    --------
    >>> second_seed(0) == second_seed(0) != second_seed(1)
    True
    """
    return int(np.random.SeedSequence((check_integer("seed", seed, 0), 1)).generate_state(1)[0])


def blocks(truth: Truth) -> Iterator[slice]:
    """Cut the examples into blocks of bounded memory."""
    rows = max(1, _CELLS // truth.n_classes)
    for start in range(0, len(truth.codes), rows):
        yield slice(start, start + rows)


def label(truth: Truth, draw: Draw, seed: Any) -> ComplementaryLabels:
    """Draw the labels of all examples; `draw` gives the exclusions of a block of true classes as a mask.

    An example cannot be none of the classes, so rows that came to exclude all of them are drawn again.
    """
    random = generator(seed)
    lengths, columns = [], []
    for block in blocks(truth):
        codes = truth.codes[block]
        excluded = draw(random, codes)
        for _ in range(_TRIES):
            full = np.flatnonzero(excluded.all(axis=1))
            if not len(full):
                break
            excluded[full] = draw(random, codes[full])
        else:
            raise MethodError(
                f"row {block.start + full[0]} still excludes every class after {_TRIES} draws; "
                "lower the probabilities, the errors or the number of draws."
            )
        lengths.append(np.count_nonzero(excluded, axis=1))
        columns.append((np.flatnonzero(excluded) % truth.n_classes).astype(np.int32))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return ComplementaryLabels(indptr, np.concatenate(columns), truth.classes)


def cumulate(probabilities: FloatArray) -> FloatArray:
    """Return the distribution functions of rows of probabilities, ending in exactly one.

    Examples
    --------
    >>> cumulate(np.array([[0.1, 0.2, 0.7]])).round(3).tolist()
    [[0.1, 0.3, 1.0]]
    """
    sums = np.cumsum(probabilities, axis=1)
    return sums / sums[:, -1:]


def choose(cumulative: FloatArray, rows: IntArray, uniforms: FloatArray) -> IntArray:
    """Choose by inverse distribution function: the first k with ``cumulative[row, k] > u``, by halving.

    `uniforms` has one row for each of `rows` and any number of columns.

    Examples
    --------
    >>> choose(cumulate(np.array([[0.0, 0.5, 0.5]])), np.array([0]), np.array([[0.0, 0.49, 0.5]])).tolist()
    [[1, 1, 2]]
    """
    low = np.zeros(uniforms.shape, np.int64)
    high = np.full(uniforms.shape, cumulative.shape[1] - 1)
    for _ in range((cumulative.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        beyond = cumulative[rows[:, None], middle] <= uniforms
        low = np.where(beyond, middle + 1, low)
        high = np.where(beyond, high, middle)
    return low


def choose_subset(uniforms: FloatArray, allowed: BoolArray, sizes: IntArray) -> BoolArray:
    """Choose a uniform subset of the allowed classes of every row, of the size the row asks for.

    Class after class is taken with probability (still needed) / (still available), which makes every subset of
    that size equally likely and needs no sorting.

    Examples
    --------
    >>> choose_subset(np.array([[0.1, 0.9, 0.9, 0.2]]), np.array([[1, 1, 0, 1]], bool), np.array([2])).tolist()
    [[True, False, False, True]]
    """
    chosen = np.zeros(allowed.shape, bool)
    needed, left = sizes.astype(np.int64), np.count_nonzero(allowed, axis=1)
    for k in range(allowed.shape[1]):
        chosen[:, k] = allowed[:, k] & (uniforms[:, k] * left < needed)
        needed -= chosen[:, k]
        left -= allowed[:, k]
    return chosen
