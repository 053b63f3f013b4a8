"""The idx format of MNIST and similar data sets: a short header, then the numbers, often gzipped."""

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.compressed import max_content_bytes, read_content, read_start
from scarce._io.paths import check_file
from scarce._limits import check_bytes
from scarce.errors import FileError

_MAX_HEADER_BYTES = 4 + 4 * 255
_DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def is_idx_name(path: str | Path) -> bool:
    """Return whether a file name is that of an idx file.

    Examples
    --------
    >>> is_idx_name("train-images-idx3-ubyte.gz"), is_idx_name("digits.idx"), is_idx_name("digits.npy")
    (True, True, False)
    """
    return re.search(r"([-.]idx\d-[a-z]+|\.idx)(\.gz)?$", Path(path).name.lower()) is not None


def read_idx(path: str | Path) -> NDArray[Any]:
    r"""Read an array in the idx format, gzipped or not.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + b"\0\0\0\x03" + b"\x07\x02\x01")
    ...     read_idx(Path(folder, "labels-idx1-ubyte")).tolist()
    [7, 2, 1]
    """
    path = check_file(path)
    shape, dtype = _parse_header(read_start(path, _MAX_HEADER_BYTES), path)
    check_bytes(min(math.prod(shape) * dtype.itemsize, max_content_bytes(path)), path)
    return parse_idx(read_content(path), path)


def parse_idx(data: bytes, path: Path) -> NDArray[Any]:
    r"""Return the array in the decompressed bytes of the idx file `path`.

    Examples
    --------
    >>> parse_idx(b"\0\0\x08\x01" + b"\0\0\0\x02" + b"\x07\x02", Path("labels-idx1-ubyte")).tolist()
    [7, 2]
    """
    shape, dtype = _parse_header(data[:_MAX_HEADER_BYTES], path)
    start = 4 + 4 * len(shape)
    expected = math.prod(shape) * dtype.itemsize
    if len(data) - start != expected:
        fault = "is truncated" if len(data) - start < expected else "is too long"
        sizes = " × ".join(map(str, shape))
        raise FileError(
            f"{path} {fault}: its header declares {sizes} values, {expected} bytes, but {len(data) - start} follow; "
            "download it again."
        )
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def _parse_header(data: bytes, path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type that the first bytes of an idx file declare."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _DTYPES or data[3] == 0:
        raise FileError(f"{path} is not an idx file: it does not start with an idx header; check the file.")
    rank, dtype = data[3], np.dtype(_DTYPES[data[2]])
    start = 4 + 4 * rank
    if len(data) < start:
        raise FileError(f"{path} is truncated in its header; download it again.")
    return struct.unpack(f">{rank}I", data[4:start]), dtype
