"""Limits of what a file may ask for, checked before memory is taken: small files can hold data of any size."""

import math
import os
from collections.abc import Iterable
from pathlib import Path

from scarce.errors import FileError, LabelError

MAX_BYTES_VARIABLE = "SCARCE_MAX_BYTES"
_DEFAULT_MAX_BYTES = 4 * 2**30
BYTES_PER_TEXT_CELL = 100
"""What a cell of a table takes as a Python string, in a list of cells."""
BYTES_PER_CHARACTER = 4
"""In a NumPy array of text, whose elements all have the length of the longest."""


def max_bytes() -> int:
    """Return how many bytes the content of a file may take in memory: ``$SCARCE_MAX_BYTES``, by default 4 GiB.

    Examples
    --------
    >>> max_bytes()
    4294967296
    """
    text = os.environ.get(MAX_BYTES_VARIABLE)
    if not text:
        return _DEFAULT_MAX_BYTES
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise FileError(
            f"${MAX_BYTES_VARIABLE} is {text!r}; expected a whole number of bytes, such as 8589934592: correct or unset it."
        )
    return int(text)


def check_bytes(n_bytes: int, path: str | Path, fix: str = "write smaller files") -> None:
    """Raise `FileError` if the content of a file would take more memory than `max_bytes`.

    Examples
    --------
    >>> check_bytes(10**10, "X.npz", "save it as .npy")
    Traceback (most recent call last):
    scarce.errors.FileError: X.npz would take 9.4 GiB of memory; expected at most 4 GiB: save it as .npy, or ...
    """
    if n_bytes > max_bytes():
        raise FileError(
            f"{path} would take {_gibibytes(n_bytes)} of memory; expected at most {_gibibytes(max_bytes())}: {fix}, or set "
            f"{MAX_BYTES_VARIABLE} to allow more bytes."
        )


def check_names_fit(names: Iterable[str], what: str) -> None:
    """Raise `LabelError` if names would take more memory than `max_bytes` as an array, which has the width of the longest.

    Examples
    --------
    >>> check_names_fit(["cat"] * 10**5 + ["c" * 10**5], "name")
    Traceback (most recent call last):
    scarce.errors.LabelError: the longest name has 100,000 characters, and 100,001 such names would take 37.3 GiB; expected ...
    """
    lengths = [len(name) for name in names]
    n_bytes = max(lengths, default=0) * len(lengths) * BYTES_PER_CHARACTER
    if n_bytes > max_bytes():
        raise LabelError(
            f"the longest {what} has {max(lengths):,} characters, and {len(lengths):,} such names would take "
            f"{_gibibytes(n_bytes)}; expected at most {_gibibytes(max_bytes())}: shorten it, or set {MAX_BYTES_VARIABLE} to allow "
            "more bytes."
        )


def _gibibytes(n_bytes: int) -> str:
    if n_bytes >= 10**21:
        return f"10^{len(str(n_bytes)) - 1} bytes"
    return f"{math.ceil(n_bytes / 2**30 * 10) / 10:,.10g} GiB" if n_bytes >= 2**30 else f"{n_bytes:,} bytes"
