"""Reading idx files of every number type, plain or gzipped, and rejecting damaged ones."""

import gzip
import struct

import numpy as np
import pytest

from scarce.errors import FileError
from scarce.features import read_idx

CODES = {"u1": 8, "i1": 9, ">i2": 11, ">i4": 12, ">f4": 13, ">f8": 14}


def encode(array, code):
    array = np.asarray(array)
    dtype = next(name for name, number in CODES.items() if number == code)
    head = bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(dtype).tobytes()


@pytest.mark.parametrize("code", CODES.values())
@pytest.mark.parametrize("packed", [True, False])
def test_read_idx_reads_every_dtype_gzipped_or_not(tmp_path, code, packed):
    array = [[1, 2, 3], [4, 5, 6]]
    content = encode(array, code)
    path = tmp_path / "numbers.idx"
    path.write_bytes(gzip.compress(content) if packed else content)
    read = read_idx(path)
    assert read.tolist() == array
    assert read.dtype.isnative
    assert read.flags.writeable


def test_read_idx_reads_signed_big_endian_values(tmp_path):
    path = tmp_path / "numbers.idx"
    path.write_bytes(b"\0\0\x0b\x01" + b"\0\0\0\x02" + b"\xff\xfe" + b"\x01\x00")
    assert read_idx(path).tolist() == [-2, 256]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (
            encode(np.zeros((2, 3)), 8)[:-1],
            "is truncated: its header declares 2 × 3 values, 6 bytes, but 5 follow",
        ),
        (encode(np.zeros((2, 3)), 8) + b"x", "is too long"),
        (encode(np.zeros((2, 3)), 8)[:9], "truncated in its header"),
        (encode(np.zeros(2), 8)[:3], "is not an idx file"),
        (b"\0\0\x07\x01\0\0\0\x01x", "is not an idx file"),
        (b"\0\0\x08\x00x", "is not an idx file"),
        (b"MNIST", "is not an idx file"),
        (b"", "is not an idx file"),
        (b"\0\0\x0e\x03" + b"\xff" * 12, "truncated"),
        (gzip.compress(encode(np.zeros(9), 8), mtime=0)[:-6], "gzip"),
        (gzip.compress(encode(np.zeros(9), 8), mtime=0)[:12] + b"\xff" * 20, "gzip"),
    ],
)
def test_read_idx_rejects_damaged_file(tmp_path, content, part):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(content)
    with pytest.raises(FileError, match=f"{path.name} .*{part}"):
        read_idx(path)
