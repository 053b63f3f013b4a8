"""Array types, compressed sparse rows (CSR), row indices and read-only arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.errors import LabelError

Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


def as_integers(values: Any, dtype: type[np.integer[Any]], name: str) -> Array:
    """Return values as an array of a type of integers, or raise a `LabelError` if one of them would change.

    Examples
    --------
    >>> as_integers([0, 2**32 + 1], np.int32, "indices")
    Traceback (most recent call last):
    scarce.errors.LabelError: indices contains 4294967297; expected whole numbers from -2147483648 to 2147483647: correct it.
    """
    given = np.asarray(values)
    if given.dtype == dtype:
        return given
    with np.errstate(invalid="ignore"):
        try:
            converted = given.astype(dtype)
            changed = np.flatnonzero(np.asarray(converted != given))
        except (TypeError, ValueError, OverflowError) as error:
            raise LabelError(
                f"{name} contains {given.dtype} values; expected whole numbers: convert it with astype(int)."
            ) from error
    if len(changed):
        limits = np.iinfo(dtype)
        raise LabelError(
            f"{name} contains {given.ravel()[changed[0]]}; expected whole numbers from {limits.min} to {limits.max}: correct it."
        )
    return converted


def csr_from_pairs(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """Return `indptr, indices` of (row, column) pairs, with sorted, distinct columns in every row.

    Examples
    --------
    >>> indptr, indices = csr_from_pairs(np.array([1, 0, 1]), np.array([2, 0, 2]), (2, 3))
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 2], [0, 2])
    """
    matrix = sparse.coo_matrix((np.ones(len(rows), bool), (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    # Nothing else refers to these arrays; marked read-only, they are not copied by `read_only`.
    indptr.flags.writeable = indices.flags.writeable = False
    return indptr, indices


def csr_positions(indptr: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions in `indices` of the entries of `rows`, and the number of entries of each row.

    Examples
    --------
    >>> positions, lengths = csr_positions(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> positions.tolist(), lengths.tolist()
    ([2, 3, 4, 0, 1], [3, 2])
    """
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    before = np.cumsum(lengths) - lengths
    positions = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return positions, lengths


def row_indices(rows: Any, n: int) -> IntArray:
    """Return the row numbers, from 0 to n − 1, that any NumPy index selects from n rows.

    Examples
    --------
    >>> row_indices([2, -1], 3).tolist(), row_indices([True, False, True], 3).tolist()
    ([2, 2], [0, 2])
    """
    chosen: NDArray[Any] = np.empty(0) if isinstance(rows, slice) else np.asarray(rows)
    if (
        chosen.ndim == 1
        and chosen.dtype.kind in "iu"
        and len(chosen)
        and 0 <= chosen.min() <= chosen.max() < n
    ):
        return chosen  # every training step takes this path, so it must not allocate n numbers
    return np.atleast_1d(np.arange(n)[rows])


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array: the array itself if it is read-only, else a copy.

    Examples
    --------
    >>> given = np.array([1, 2])
    >>> kept = read_only(given)
    >>> given[0] = 9
    >>> kept.tolist(), kept.flags.writeable
    ([1, 2], False)
    """
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array
