"""The class names: checked once, looked up fast."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.errors import LabelError

__all__ = ["Array", "check_classes", "lookup_codes", "names_to_array", "some"]

Array = NDArray[Any]


def names_to_array(names: Iterable[Any]) -> Array:
    """Return names as an array of integers or of text, whichever they are.

    Examples
    --------
    >>> names_to_array(["cat", "dog"]).dtype.kind, names_to_array((3, 1)).dtype.kind
    ('U', 'i')
    """
    array = np.asarray(names if isinstance(names, np.ndarray) else list(names))
    if array.dtype.kind == "O":
        array = np.asarray([str(name) for name in array])
    return array


def check_classes(classes: int | Iterable[Any]) -> Array:
    """Return the class names as an array; a number q stands for the classes 0 to q − 1.

    Examples
    --------
    >>> check_classes(3).tolist()
    [0, 1, 2]
    """
    if isinstance(classes, (str, bytes)):
        raise LabelError(
            f"classes is the single string {classes!r}; expected a list of class names, such as ['cat', 'dog']."
        )
    names = np.arange(classes) if isinstance(classes, (int, np.integer)) else names_to_array(classes)
    if names.ndim != 1 or len(names) < 2:
        raise LabelError(
            f"classes has {names.size} name(s); a classifier needs at least 2: pass classes=[...] with all of them."
        )
    if names.dtype.kind == "f" and np.isnan(names).any():
        raise LabelError("classes contains NaN; every class needs a name.")
    values, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise LabelError(
            f"class {values[counts > 1][0]!s} is named twice in classes; each class needs a name of its own."
        )
    return names


def lookup_codes(values: Array, classes: Array) -> NDArray[np.int64]:
    """Return the index of every value in `classes`, −1 for a value that is no class.

    Examples
    --------
    >>> lookup_codes(np.array(["dog", "cow"]), np.array(["cat", "dog"])).tolist()
    [1, -1]
    """
    if (values.dtype.kind in "US") != (classes.dtype.kind in "US"):
        values, classes = values.astype(str), classes.astype(str)
    order = np.argsort(classes)
    place = np.minimum(np.searchsorted(classes[order], values), len(classes) - 1)
    codes = order[place]
    return np.where(classes[codes] == values, codes, -1)


def some(values: Iterable[Any], most: int = 5) -> str:
    """Name a few of many values, for an error message.

    Examples
    --------
    >>> some(range(9))
    '0, 1, 2, 3, 4 and 4 more'
    """
    values = list(values)
    rest = len(values) - most
    return ", ".join(str(value) for value in values[:most]) + (f" and {rest} more" if rest > 0 else "")
