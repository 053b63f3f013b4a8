"""True classes, one per example: check them, and encode them as indices into the class names."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, FloatArray
from scarce._class_names import check_classes, encode_names
from scarce.errors import LabelError

Classes = int | Iterable[Any] | None

_MISSING_NAMES = {"None", "nan", "NaT", "<NA>"}


@dataclass(frozen=True)
class Truth:
    """The true classes of n examples.

    Attributes
    ----------
    codes : array of int of shape (n,)
        The true class of each example, as an index into `classes`.
    classes : array of shape (q,)
        The class names.
    """

    codes: NDArray[np.int64]
    classes: Array

    @property
    def n_classes(self) -> int:
        """Number of classes q."""
        return len(self.classes)

    @property
    def priors(self) -> FloatArray:
        """Class frequencies π_k, shape (q,)."""
        return np.bincount(self.codes, minlength=self.n_classes) / len(self.codes)


def encode_truth(y: Any, classes: Classes = None) -> Truth:
    """Encode one true class per example as an index into `classes`, by default the sorted values of `y`.

    Examples
    --------
    >>> encode_truth(["dog", "cat", "dog"]).codes.tolist()
    [1, 0, 1]
    """
    values = check_true_classes(y)
    names = check_classes(np.unique(values) if classes is None else classes)
    return Truth(encode_names(values, names, what="the true class", fix="correct y"), names)


def check_true_classes(y: Any) -> Array:
    """Check that `y` contains one true class per example, and return it as an array of integers or text.

    Examples
    --------
    >>> check_true_classes([1.0, 2.0]).tolist()
    [1, 2]
    """
    # Read a list as objects: NumPy would turn the NaN of ["cat", nan] into the text 'nan'.
    values = np.asarray(y, object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if values.ndim != 1:
        raise LabelError(
            f"y has shape {values.shape}; expected a 1-D array with the true class of each example "
            "(y.ravel() for one column, y.argmax(1) for one-hot rows)."
        )
    if not len(values):
        raise LabelError(
            "y is empty; expected the true class of at least one example: pass one class per example."
        )
    if values.dtype.kind in "Of":
        missing = (
            np.isnan(values)
            if values.dtype.kind == "f"
            else np.array([not isinstance(value, str) and str(value) in _MISSING_NAMES for value in values])
        )
        if missing.any():
            raise LabelError(
                f"row {int(np.argmax(missing))}: the true class is missing ({values[missing][0]}); leave out such rows."
            )
    if values.dtype.kind == "O":
        try:
            values = np.asarray(values.tolist())
        except ValueError as error:
            raise LabelError(
                "y is a list of lists; expected one true class per example: pass a flat list."
            ) from error
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
        whole = (np.floor(values) == values) & (np.abs(values) < 2**53)
        if not whole.all():
            raise LabelError(
                f"row {int(np.argmin(whole))}: {values[~whole][0]:g} is not a class number; "
                "expected whole numbers or class names: correct y."
            )
        values = values.astype(np.int64)
    if values.ndim != 1 or values.dtype.kind not in "biuU":
        raise LabelError(
            f"y contains {values.dtype} values; expected class names or whole class numbers: convert y with astype(str) "
            "or astype(int)."
        )
    return values
