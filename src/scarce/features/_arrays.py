"""Arrays of features: some of their rows, chunks of rows, column statistics, and a check for finite numbers."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.errors import FeatureError
from scarce.features.shards import ArrayShard, Shards

_MAX_MAGNITUDE = float(np.finfo(np.float32).max) / 2  # the difference of two such numbers fits into float32
_MAX_CHUNK_NUMBERS = 2**21  # 16 MB as float64
_MIN_VARIANCE_RATIO = 1e-6  # of variance to E x²; below it, E x² − (E x)² is mostly rounding error


def input_shape(X: Any) -> tuple[int, ...]:
    """Return the shape of one example: ``X.shape`` without the rows."""
    return tuple(int(side) for side in X.shape[1:])


def iter_chunks(X: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield chunks of rows of an array or of `Shards`, a few megabytes each, with the index of their first row.

    Examples
    --------
    >>> [(start, rows.shape) for start, rows in iter_chunks(np.zeros((3, 2**20)))]
    [(0, (2, 1048576)), (2, (1, 1048576))]
    """
    step = max(1, _MAX_CHUNK_NUMBERS // max(1, math.prod(X.shape[1:])))
    for start in range(0, X.shape[0], step):
        end = min(start + step, X.shape[0])
        yield start, X.take(np.arange(start, end)) if isinstance(X, Shards) else X[start:end]


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of features without reading data on disk; return `X` itself for all rows in order.

    Examples
    --------
    >>> take_rows(np.eye(2), [1]).tolist()
    [[0.0, 1.0]]
    """
    if np.array_equal(rows, np.arange(X.shape[0])):
        return X
    return (Shards([ArrayShard(X)]) if isinstance(X, np.memmap) else X)[rows]


def column_statistics(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the standard deviation of every column of an n × d table, two arrays of shape (d,).

    Chunks of rows are combined as by Chan et al.: with w the fraction of new rows, and δ the mean of the new rows minus the mean
    of the previous rows, ::

        mean ← mean + w δ,    variance ← (1 − w) variance + w variance_new + w (1 − w) δ².

    References
    ----------
    Chan, Golub and LeVeque, "Algorithms for computing the sample variance: Analysis and recommendations", The American Statistician
    37(3), 1983.

    Examples
    --------
    >>> mean, deviation = column_statistics(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), deviation.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        variance = np.maximum(square - mean**2, 0)
        cancelled = variance < _MIN_VARIANCE_RATIO * square
        if cancelled.any():
            variance = np.where(cancelled, _centered_squares(X, mean), variance)
        return mean, np.sqrt(variance)
    mean, variance = np.zeros(X.shape[1:]), np.zeros(X.shape[1:])
    for start, rows in iter_chunks(X):
        weight = len(rows) / (start + len(rows))
        difference = rows.mean(axis=0, dtype=np.float64) - mean
        mean = mean + weight * difference
        added = rows.var(axis=0, dtype=np.float64) + (1 - weight) * difference**2
        variance = (1 - weight) * variance + weight * added
    return mean, np.sqrt(variance)


def _centered_squares(X: Any, mean: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of (x − mean)² over each column of a sparse matrix, which is accurate where E x² − mean² cancels."""
    stored = X.tocsc()
    stored.sum_duplicates()
    counts = np.diff(stored.indptr)
    columns = np.repeat(np.arange(X.shape[1]), counts)
    squares = np.bincount(columns, (stored.data - mean[columns]) ** 2, X.shape[1])
    return (squares + (X.shape[0] - counts) * mean**2) / X.shape[0]  # type: ignore[no-any-return]


def check_finite(X: Any) -> None:
    """Raise a `FeatureError` that names the first NaN, infinity or number too large for float32, if there is one.

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
    scarce.errors.FeatureError: X contains NaN at row 0, column 1 (1 in all); remove such rows, or impute the values (...).
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    count, value, position = 0, 0.0, np.zeros(values.ndim, int)
    for start, rows in iter_chunks(values):
        if rows.dtype.itemsize == 2:  # float16, of any byte order, cannot represent the limit
            rows = rows.astype(np.float32)
        with np.errstate(invalid="ignore"):
            invalid = ~(np.abs(rows) <= _MAX_MAGNITUDE)  # also true for NaN
        if invalid.any():
            if not count:
                position = np.argwhere(invalid)[0]
                value = float(rows[tuple(position)])
                position[0] += start
            count += int(invalid.sum())
    if not count:
        return
    if sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, position[0], side="right")) - 1
        where = f"row {row}, column {X.indices[position[0]]}"
    else:
        where = f"row {position[0]}, " + (
            f"column {position[1]}" if len(position) == 2 else f"position {tuple(position[1:].tolist())}"
        )
    kind = "NaN" if np.isnan(value) else "inf" if np.isinf(value) else "a number too large for float32"
    raise FeatureError(
        f"X contains {kind} at {where} ({count} in all); remove such rows, or impute the values (sklearn.impute)."
    )


def check_not_constant(X: Any) -> None:
    """Raise `FeatureError` if there are two or more rows, and all are equal.

    Examples
    --------
    >>> check_not_constant(np.zeros((3, 2)))
    Traceback (most recent call last):
    scarce.errors.FeatureError: X has 3 equal rows (every column has the same value in all of them), so there is nothing to ...
    """
    if sparse.issparse(X):
        is_constant = not (X.max(axis=0) != X.min(axis=0)).nnz
    else:
        first = X.take([0]) if isinstance(X, Shards) else X[:1]
        is_constant = all(bool((rows == first).all()) for _, rows in iter_chunks(X))
    if X.shape[0] > 1 and is_constant:
        columns = "the only column has" if X.shape[1:] == (1,) else "every column has"
        raise FeatureError(
            f"X has {X.shape[0]} equal rows ({columns} the same value in all of them), so there is nothing to learn; expected "
            "at least one column that varies: check the features."
        )
