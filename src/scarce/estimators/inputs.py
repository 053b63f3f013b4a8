"""Features as a network takes them: checked, shaped, and said clearly when they will not do."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from scarce.errors import FeatureError
from scarce.training.inputs import refuse_odd_numbers

__all__ = ["check_inputs"]


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
    refuse_odd_numbers(X)
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
