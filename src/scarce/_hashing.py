"""Hashes of bytes, arrays, rows and settings that are the same on every machine."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHORT_DIGITS = 16  # hexadecimal digits


def bytes_digest(chunks: Iterable[bytes], *, short: bool = False) -> str:
    """Return the SHA-256 of the concatenated chunks; with `short`, only its first 16 digits.

    Examples
    --------
    >>> bytes_digest([b"a", b"b"]) == bytes_digest([b"ab"])
    True
    """
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()[: _SHORT_DIGITS if short else None]


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits that identify JSON-serializable settings; the order of the settings does not matter.

    Examples
    --------
    >>> settings_digest({"a": 1, "b": 2}) == settings_digest({"b": 2, "a": 1})
    True
    """
    return bytes_digest([json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()], short=True)


def array_checksum(arrays: Iterable[NDArray[Any]]) -> str:
    """Return the SHA-256 of arrays, including their types and shapes; byte order does not matter.

    Examples
    --------
    >>> array_checksum([np.array([1, 2])]) == array_checksum([np.array([[1], [2]])])
    False
    """

    def iter_chunks() -> Iterable[Any]:
        for array in arrays:
            little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            yield f"{little_endian.dtype.str}{little_endian.shape}".encode()
            yield little_endian.data.cast("B") if little_endian.dtype.kind != "U" else little_endian.tobytes()

    return bytes_digest(iter_chunks())


def row_hashes(rows: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row, an array of shape (n,).

    Examples
    --------
    >>> len(row_hashes([b"a", b"b", b"a"])), len(set(row_hashes([b"a", b"b", b"a"]).tolist()))
    (3, 2)
    """
    return np.frombuffer(b"".join(hashlib.blake2b(row, digest_size=8).digest() for row in rows), np.uint64)


def matches_checksum(data: bytes, checksum: str) -> bool:
    """Return whether `data` has the given checksum, written as ``md5:…`` or ``sha256:…``.

    Examples
    --------
    >>> matches_checksum(b"", "md5:d41d8cd98f00b204e9800998ecf8427e")
    True
    """
    algorithm, _, digest = checksum.partition(":")
    return hashlib.new(algorithm, data, usedforsecurity=False).hexdigest() == digest
