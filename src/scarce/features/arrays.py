"""Features as numbers: their shape, their scale, and what cannot be trained on."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.errors import FeatureError
from scarce.features.shards import Shards

__all__ = ["column_statistics", "input_shape", "check_finite", "iter_chunks"]

_LARGEST = float(np.finfo(np.float32).max)
_AT_ONCE = 2**21  # numbers: 16 MB as float64
_CANCELLED = 1e-6  # share of E x² below which E x² − (E x)² is mostly rounding


def input_shape(X: Any) -> tuple[int, ...]:
    """Return the shape of one example."""
    return tuple(int(side) for side in X.shape[1:])


def iter_chunks(X: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the rows of an array or of `Shards` a few megabytes at a time, each part with the number of its first row.

    Examples
    --------
    >>> [(start, rows.shape) for start, rows in iter_chunks(np.zeros((3, 2**20)))]
    [(0, (2, 1048576)), (2, (1, 1048576))]
    """
    step = max(1, _AT_ONCE // max(1, math.prod(X.shape[1:])))
    for start in range(0, X.shape[0], step):
        end = min(start + step, X.shape[0])
        yield start, X.take(np.arange(start, end)) if isinstance(X, Shards) else X[start:end]


def column_statistics(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of every column of a table.

    Parts of the rows are put together as Chan, Golub and LeVeque do: with w the share of the new rows and δ the
    difference of the means,

        mean ← mean + w δ,    variance ← (1 − w) variance + w variance_new + w (1 − w) δ².

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
        cancelled = variance < _CANCELLED * square
        if cancelled.any():
            variance = np.where(cancelled, _centred_squares(X, mean), variance)
        return mean, np.sqrt(variance)
    mean, variance = np.zeros(X.shape[1:]), np.zeros(X.shape[1:])
    for start, rows in iter_chunks(X):
        share = len(rows) / (start + len(rows))
        step = rows.mean(axis=0, dtype=np.float64) - mean
        mean = mean + share * step
        added = rows.var(axis=0, dtype=np.float64) + (1 - share) * step**2
        variance = (1 - share) * variance + share * added
    return mean, np.sqrt(variance)


def _centred_squares(X: Any, mean: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of (x − mean)² over each column of a sparse matrix: exact where E x² − mean² loses its digits."""
    stored = X.tocsc()
    stored.sum_duplicates()
    counts = np.diff(stored.indptr)
    columns = np.repeat(np.arange(X.shape[1]), counts)
    squares = np.bincount(columns, (stored.data - mean[columns]) ** 2, X.shape[1])
    return (squares + (X.shape[0] - counts) * mean**2) / X.shape[0]  # type: ignore[no-any-return]


def check_finite(X: Any) -> None:
    """Refuse features that hold NaN, infinities or numbers beyond float32, and say where.

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
    scarce.errors.FeatureError: X contains NaN at row 0, column 1 (1 in all); remove such rows, or fill them in (...).
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    count, got, place = 0, 0.0, np.zeros(values.ndim, int)
    for start, rows in iter_chunks(values):
        if rows.dtype == np.float16:  # which cannot hold the number compared with
            rows = rows.astype(np.float32)
        with np.errstate(invalid="ignore"):
            odd = ~(np.abs(rows) <= _LARGEST)  # also true for NaN
        if odd.any():
            if not count:
                place = np.argwhere(odd)[0]
                got = float(rows[tuple(place)])
                place[0] += start
            count += int(odd.sum())
    if not count:
        return
    if sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, place[0], side="right")) - 1
        where = f"row {row}, column {X.indices[place[0]]}"
    else:
        where = f"row {place[0]}, " + (
            f"column {place[1]}" if len(place) == 2 else f"position {tuple(place[1:].tolist())}"
        )
    kind = "NaN" if np.isnan(got) else "inf" if np.isinf(got) else "a number too large for float32"
    raise FeatureError(
        f"X contains {kind} at {where} ({count} in all); remove such rows, or fill them in (sklearn.impute)."
    )
