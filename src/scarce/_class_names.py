"""Names of classes and of examples: check them, and encode them as indices."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, IntArray
from scarce._limits import check_names_fit
from scarce._validation import abbreviate, shorten
from scarce.errors import LabelError

_MAX_CLASSES = 10_000_000


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or the pandas equivalents.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, True, False, False)
    """
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def names_to_array(names: Iterable[Any], what: str = "name") -> Array:
    """Return names as an array of numbers or of text, as given; `what` is the word for one name in messages.

    Examples
    --------
    >>> names_to_array(["cat", "dog"]).dtype.kind, names_to_array((3, 1)).dtype.kind
    ('U', 'i')
    """
    if isinstance(names, (str, bytes)):
        raise LabelError(
            f"got the single string {names!r} where one {what} per row was expected; pass [{names!r}]."
        )
    try:
        values = np.asarray(names) if hasattr(names, "__array__") else list(names)
        if isinstance(values, list):
            check_names_fit((value if isinstance(value, str) else "" for value in values), what)
        array = np.asarray(values)
    except LabelError:
        raise
    except (TypeError, ValueError):
        raise LabelError(
            f"got {type(names).__name__} where a list with one {what} per row was expected; pass a list or an array."
        ) from None
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.ndim != 1 or array.dtype.kind in "iub" or (array.dtype.kind == "U" and array is values):
        return array
    for row, value in enumerate(values):
        if is_missing(value):
            raise LabelError(f"row {row}: the {what} is missing; fill it in or leave the row out.")
    # Integers of more than 64 bits (hashes, say) would become rounded floats: keep them as text.
    rounded = array.dtype.kind == "f" and all(isinstance(value, int) for value in values)
    if array.dtype.kind in "Uf" and not rounded:
        return array
    return np.asarray([str(value) for value in values])


def text_or_empty(values: Iterable[Any]) -> Array:
    """Return values as text, with empty text for missing values.

    Examples
    --------
    >>> text_or_empty(["ann", None, 3]).tolist()
    ['ann', '', '3']
    """
    if not isinstance(values, Iterable):
        raise LabelError(f"got {values!r} where a list with one value per row was expected; pass a list.")
    texts = ["" if is_missing(value) else str(value) for value in values]
    check_names_fit(texts, "value")
    return np.asarray(texts, dtype=str)


def check_classes(classes: int | Iterable[Any]) -> Array:
    """Return the class names as an array of shape (q,); an integer q means the classes 0 to q − 1.

    Examples
    --------
    >>> check_classes(3).tolist()
    [0, 1, 2]
    """
    if isinstance(classes, (str, bytes)):
        raise LabelError(
            f"classes is the single string {classes!r}; expected a list of class names such as ['cat', 'dog']."
        )
    if isinstance(classes, (set, frozenset)):
        raise LabelError("classes is a set, which has no order; pass a list, for example sorted(classes).")
    if classes is None or isinstance(classes, (float, np.floating)):
        raise LabelError(f"classes is {classes}; pass all class names as classes=[...], or their number.")
    if isinstance(classes, (int, np.integer)) and classes > _MAX_CLASSES:
        raise LabelError(f"classes={shorten(classes)}; expected at most {_MAX_CLASSES} classes.")
    names = (
        np.arange(classes)
        if isinstance(classes, (int, np.integer))
        else names_to_array(classes, "class name")
    )
    if names.ndim != 1 or len(names) < 2:
        raise LabelError(
            f"classes has {names.size} name(s); a classifier needs at least 2: pass classes=[...] with all of them."
        )
    if (names.astype(str) == "").any():
        raise LabelError(f"class {int(np.argmax(names == ''))} has an empty name; name every class.")
    for name in map(str, names):
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise LabelError(
                f"the class name {name!r} contains a lone surrogate; expected text that UTF-8 can encode: correct the name."
            )
    values, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise LabelError(
            f"class {values[counts > 1][0]!s} is named twice in classes; expected distinct names: remove or rename one."
        )
    return names


def lookup_codes(values: Array, classes: Array) -> NDArray[np.int64]:
    """Return the index in `classes` of every value, −1 for a value that is not a class.

    Examples
    --------
    >>> lookup_codes(np.array(["dog", "cow"]), np.array(["cat", "dog"])).tolist()
    [1, -1]
    """
    if len(classes) == 0:
        return np.full(values.shape, -1)
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        values, classes = values.astype(str), classes.astype(str)
    order = np.argsort(classes)
    position = np.minimum(np.searchsorted(classes[order], values), len(classes) - 1)
    codes = order[position]
    return np.where(classes[codes] == values, codes, -1)


def encode_names(
    values: Array, classes: Array, *, what: str = "", rows: IntArray | None = None, fix: str = "correct it"
) -> NDArray[np.int64]:
    """Return the index in `classes` of every value; a value that is not a class raises a `LabelError`.

    Parameters
    ----------
    values : array of shape (n,)
        The names to look up.
    classes : array of shape (q,)
        The class names.
    what : str
        What a value is; for the message.
    rows : array of int of shape (n,), optional
        The row of each value, for the message; by default its position.
    fix : str
        How to fix the value, other than by adding it to the classes; for the message.

    Examples
    --------
    >>> encode_names(np.array(["dog", "cow"]), np.array(["cat", "dog"]), what="the true class")
    Traceback (most recent call last):
    scarce.errors.LabelError: row 1: the true class cow is not one of the classes (cat, dog); correct it or add it to classes.
    """
    codes = lookup_codes(values, classes)
    if (codes < 0).any():
        first = int(np.argmax(codes < 0))
        raise LabelError(
            f"row {first if rows is None else rows[first]}: {what}{' ' * bool(what)}{values[first]!s} is not one of the "
            f"classes ({abbreviate(classes)}); {fix} or add it to classes."
        )
    return codes
