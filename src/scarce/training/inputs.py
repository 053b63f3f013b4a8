"""Features as numbers: their shape, their scale, and what cannot be trained on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.errors import FeatureError

__all__ = ["column_statistics", "input_shape", "refuse_odd_numbers"]

_LARGEST = float(np.finfo(np.float32).max)


def input_shape(X: Any) -> tuple[int, ...]:
    """Return the shape of one example."""
    return tuple(int(side) for side in X.shape[1:])


def column_statistics(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of every column of a table.

    Examples
    --------
    >>> mean, deviation = column_statistics(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), deviation.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(square - mean**2, 0))
    return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)


def refuse_odd_numbers(X: Any) -> None:
    """Refuse features that hold NaN, infinities or numbers beyond float32, and say where.

    Examples
    --------
    >>> refuse_odd_numbers(np.array([[1.0, np.nan]]))
    Traceback (most recent call last):
    scarce.errors.FeatureError: X contains NaN at row 0, column 1 (1 in all); remove such rows, or fill them in (...).
    """
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    if values.dtype == np.float16:  # which cannot hold the number compared with
        values = values.astype(np.float32)
    with np.errstate(invalid="ignore"):
        odd = ~(np.abs(values) <= _LARGEST)  # also true for NaN
    if not odd.any():
        return
    place = np.argwhere(odd)[0]
    got = float(values[tuple(place)])
    if sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, place[0], side="right")) - 1
        where = f"row {row}, column {X.indices[place[0]]}"
    else:
        where = f"row {place[0]}, " + (
            f"column {place[1]}" if len(place) == 2 else f"position {tuple(place[1:].tolist())}"
        )
    kind = "NaN" if np.isnan(got) else "inf" if np.isinf(got) else "a number too large for float32"
    raise FeatureError(
        f"X contains {kind} at {where} ({odd.sum()} in all); remove such rows, or fill them in (sklearn.impute)."
    )
