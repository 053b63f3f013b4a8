"""Helpers of every fit: checks of features and lengths, the seed, and a rollback after errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from torch import Tensor

from scarce._validation import shorten
from scarce.errors import FeatureError, MethodError
from scarce.features import Shards
from scarce.features._arrays import check_finite, iter_chunks
from scarce.labels import ComplementaryLabels

_MAX_EXACT_INTEGER = 2**24  # float32 represents all integers up to this one


def check_inputs(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return `X` as a dense array or CSR matrix of numbers, or raise `FeatureError` if it cannot be used.

    Tables have two axes; images have three (n × h × w) or four (n × c × h × w). uint8 images stay uint8. Data on disk (`Shards`
    and `numpy.memmap`) are checked and stay on disk. With `reset`, the number and names of the features are stored in the
    estimator; without it, they must match those that the estimator was fitted on.
    """
    is_image = getattr(X, "ndim", 2) > 2
    if np.ma.is_masked(X):
        raise FeatureError(
            "X is a masked array with masked values; expected numbers only: fill them in first (X.filled, sklearn.impute)."
        )
    if isinstance(X, Tensor):
        X = X.detach().cpu()
    if isinstance(X, Shards) and (X.ndim < 2 or len(X) == 0):
        raise FeatureError(
            f"X has shape {X.shape}; expected (n, d) or more axes, none of them empty: choose other files."
        )
    given = X
    X = validate_data(
        estimator,
        X,
        reset=reset,
        skip_check_array=isinstance(X, Shards),
        accept_sparse="csr",
        ensure_2d=not is_image,
        allow_nd=True,
        ensure_all_finite=False,
    )
    if X.dtype.kind not in "biuf":
        raise FeatureError(
            f"X contains {X.dtype} values; expected numbers: encode them, such as times as seconds (X.astype('int64'))."
        )
    is_on_disk = isinstance(given, (Shards, np.memmap)) and given.dtype == X.dtype
    if is_on_disk:
        X = given  # scikit-learn returns a memory-mapped array as an ordinary one
    if X.ndim > 4 or 0 in X.shape[1:]:
        raise FeatureError(
            f"X has shape {X.shape}; expected a table (n × d) or images (n × h × w or n × c × h × w): reshape it."
        )
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1:] != estimator.input_shape_:
        fix = "pass the features that were passed to fit"
        if is_image:
            fix = "for a folder of images: read_features(folder, input_shape=clf.input_shape_)"
        raise FeatureError(
            f"X has inputs of shape {X.shape[1:]}, but the model was fitted on {estimator.input_shape_}; {fix}."
        )
    check_finite(X)
    if is_image and not reset:
        _check_pixel_scale(X, estimator.byte_inputs_)
    is_kept = is_on_disk or X.dtype.kind == "f" or (is_image and X.dtype == np.uint8)
    return X if is_kept else X.astype(np.float64 if _needs_float64(X) else np.float32)


def _needs_float64(X: Any) -> bool:
    """Return whether `X` holds integers that float32 would round."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.itemsize < 4 or not values.size:
        return False
    return any(max(int(rows.max()), -int(rows.min())) > _MAX_EXACT_INTEGER for _, rows in iter_chunks(values))


def _check_pixel_scale(images: Any, fitted_on_bytes: bool) -> None:
    """Raise `FeatureError` if images are uint8 and those of `fit` were floats, or the reverse: only uint8 is scaled to [0, 1]."""
    if fitted_on_bytes and images.dtype != np.uint8:
        largest = max((rows.max() for _, rows in iter_chunks(images)), default=0)
        if largest > 1:
            raise FeatureError(
                f"the model was fitted on uint8 images, which are scaled to [0, 1]; these are {images.dtype} up to "
                f"{largest:g}: pass them as uint8, or divide them by 255."
            )
    if images.dtype == np.uint8 and not fitted_on_bytes:
        raise FeatureError(
            "the model was fitted on float images, and these are uint8; pass floats, scaled as they were for fit."
        )


def set_feature_names(estimator: BaseEstimator, X: Any, names: Sequence[str]) -> None:
    """Store the names of the columns of `X`, which has none itself, as `feature_names_in_`."""
    if len(names) != X.shape[1]:
        raise FeatureError(
            f"feature_names has {len(names)} names, and X has {X.shape[1]} columns; pass one name per column."
        )
    estimator.feature_names_in_ = np.array(names, dtype=object)


def check_consistent_length(X: Any, labels: ComplementaryLabels) -> None:
    """Raise `FeatureError` unless there is one label per row of features."""
    if X.shape[0] != labels.n_examples:
        raise FeatureError(
            f"X has {X.shape[0]} rows and y has {labels.n_examples}; expected one label per row: pass both of the same examples."
        )


def random_seed(random_state: int | np.integer[Any] | np.random.RandomState | None) -> int:
    """Return an integer seed from the `random_state` of scikit-learn: an integer is returned as it is, else one is drawn.

    Examples
    --------
    >>> random_seed(7), random_seed(np.random.RandomState(0))
    (7, 209652396)
    """
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(random_generator(random_state).randint(2**31))


def random_generator(random_state: Any) -> np.random.RandomState:
    """Return the generator of a `random_state` of scikit-learn: an integer, a generator, or None.

    Examples
    --------
    >>> random_generator(-1)
    Traceback (most recent call last):
    scarce.errors.MethodError: random_state=-1; expected a whole number from 0 to 2^32 - 1, a RandomState or None.
    """
    try:
        return check_random_state(random_state)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        raise MethodError(
            f"random_state={shorten(random_state)}; expected a whole number from 0 to 2^32 - 1, a RandomState or None."
        ) from None


@contextmanager
def restore_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of the estimator if the block fails, so that an earlier fit survives.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> estimator = SimpleNamespace(model_="old")
    >>> with restore_on_error(estimator):
    ...     estimator.model_ = "half-trained"
    ...     raise ValueError("out of memory")
    Traceback (most recent call last):
    ValueError: out of memory
    >>> estimator.model_
    'old'
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:  # including KeyboardInterrupt
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
