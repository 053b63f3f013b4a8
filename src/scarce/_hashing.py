"""A checksum of arrays, whatever files they came from."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["array_checksum", "matches"]


def array_checksum(arrays: Iterable[NDArray[Any]]) -> str:
    """Return the SHA-256 of arrays, of their types and their shapes; the same on every machine.

    Examples
    --------
    >>> array_checksum([np.array([1, 2])]) == array_checksum([np.array([[1], [2]])])
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        digest.update(f"{little.dtype.str}{little.shape}".encode())
        digest.update(little.data.cast("B") if little.dtype.kind != "U" else little.tobytes())
    return digest.hexdigest()


def matches(data: bytes, checksum: str) -> bool:
    """Tell whether the bytes have a checksum, written as ``md5:…`` or ``sha256:…``.

    Examples
    --------
    >>> matches(b"", "md5:d41d8cd98f00b204e9800998ecf8427e")
    True
    """
    algorithm, _, digest = checksum.partition(":")
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest() == digest
