"""Compressed rows: which classes each example excludes, at four bytes a label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["IntArray", "compress", "gather"]

IntArray = NDArray[np.integer[Any]]


def compress(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """Turn (row, column) pairs into `indptr, indices` with sorted, distinct columns in every row.

    Examples
    --------
    >>> indptr, indices = compress(np.array([1, 0, 1]), np.array([2, 0, 2]), (2, 3))
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 2], [0, 2])
    """
    matrix = sparse.coo_matrix((np.ones(len(rows), bool), (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)


def gather(indptr: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the entries of `rows` lie in `indices`, and how many each row has.

    Examples
    --------
    >>> positions, lengths = gather(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> positions.tolist(), lengths.tolist()
    ([2, 3, 4, 0, 1], [3, 2])
    """
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    before = np.cumsum(lengths) - lengths
    positions = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return positions, lengths
