"""Features as a network takes them: checked, shaped, and said clearly when they will not do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from scarce.errors import FeatureError

__all__ = ["check_inputs", "column_statistics", "input_shape"]

_LARGEST = float(np.finfo(np.float32).max)


def check_inputs(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return `X` as a dense array or CSR matrix of numbers, after refusing what cannot be trained on.

    Tables have two axes; images three (n × h × w) or four (n × c × h × w). Images of bytes stay bytes. With `reset`
    the estimator learns width and names of the features, else they must be those it was fitted on.
    """
    is_image = getattr(X, "ndim", 2) > 2
    if np.ma.is_masked(X):
        raise FeatureError(
            "X is a masked array with masked values; fill them in first (X.filled, sklearn.impute)."
        )
    if isinstance(X, Tensor):
        X = X.detach().cpu()
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        ensure_2d=not is_image,
        allow_nd=True,
        ensure_all_finite=False,
    )
    if X.ndim > 4 or 0 in X.shape[1:]:
        raise FeatureError(
            f"X has shape {X.shape}; expected a table (n × d) or images (n × h × w or n × c × h × w)."
        )
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1:] != estimator.input_shape_:
        raise FeatureError(
            f"X has inputs of shape {X.shape[1:]}, but the model was fitted on {estimator.input_shape_}."
        )
    _refuse_odd_numbers(X)
    if is_image and not reset:
        _refuse_other_scale(X, estimator.byte_inputs_)
    return X if X.dtype.kind == "f" or (is_image and X.dtype == np.uint8) else X.astype(np.float32)


def _refuse_other_scale(images: Any, fitted_on_bytes: bool) -> None:
    """Bytes are scaled to [0, 1] and floats are not, so images must come as they came to `fit`."""
    if fitted_on_bytes and images.dtype != np.uint8 and images.size and images.max() > 1:
        raise FeatureError(
            f"the model was fitted on images of bytes, which it scales to [0, 1]; these are {images.dtype} up to "
            f"{images.max():g}: pass them as uint8, or divide them by 255."
        )
    if images.dtype == np.uint8 and not fitted_on_bytes:
        raise FeatureError(
            "the model was fitted on images of floats and these are bytes; pass floats, scaled as they were for fit."
        )


def _refuse_odd_numbers(X: Any) -> None:
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
