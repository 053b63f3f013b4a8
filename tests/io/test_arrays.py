"""NumPy files: arrays come back as they were written, and damaged or foreign files are rejected."""

import zipfile

import numpy as np
import pytest

from scarce._io.arrays import map_array, read_array, read_arrays
from scarce.errors import FileError


def test_read_array_returns_written_array(tmp_path):
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.save(tmp_path / "x.npy", array)
    for found in (read_array(tmp_path / "x.npy"), map_array(tmp_path / "x.npy")):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


def test_map_array_is_read_only_and_stays_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    mapped = map_array(tmp_path / "x.npy")
    assert isinstance(mapped, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        mapped[0] = 1


def test_read_arrays_returns_every_named_array(tmp_path):
    np.savez(tmp_path / "x.npz", a=[1, 2], b=[[0.5]])
    found = read_arrays(tmp_path / "x.npz")
    assert {name: array.tolist() for name, array in found.items()} == {"a": [1, 2], "b": [[0.5]]}


def test_read_array_and_read_arrays_reject_each_others_files(tmp_path):
    np.savez(tmp_path / "x.npz", a=[1])
    np.save(tmp_path / "x.npy", [1])
    with pytest.raises(FileError, match=r"holds several arrays; rename it to end in \.npz"):
        read_array(tmp_path / "x.npz")
    with pytest.raises(FileError, match=r"holds one array without a name; rename it to end in \.npy"):
        read_arrays(tmp_path / "x.npy")


@pytest.mark.parametrize("read", [read_array, read_arrays, map_array])
def test_arrays_reject_damaged_files_and_pickles(tmp_path, read):
    np.save(tmp_path / "whole.npy", np.zeros(100))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:200])
    (tmp_path / "text.npy").write_text("1,2,3")
    (tmp_path / "empty.npy").write_bytes(b"")
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object))
    for name in ("cut", "text", "empty", "objects"):
        with pytest.raises(FileError, match=rf"{name}\.npy cannot be read as NumPy arrays"):
            read(tmp_path / f"{name}.npy")


@pytest.mark.parametrize("read", [read_array, map_array])
def test_array_with_more_bytes_than_its_header_declares_is_rejected(tmp_path, read):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with (tmp_path / "x.npy").open("ab") as file:
        file.write(bytes(8))
    with pytest.raises(
        FileError, match=r"too long: a header declares 3 × 2 values of type float64, 48 bytes, but 56 follow"
    ):
        read(tmp_path / "x.npy")


def test_read_arrays_checks_length_of_every_member(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    content = (tmp_path / "a.npy").read_bytes()
    for name, changed in (("a.npy", content[:-8]), ("a.npy", content + b"x"), ("notes.txt", b"not an array")):
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr(name, changed)
        with pytest.raises(FileError, match=r"x\.npz cannot be read as NumPy arrays"):
            read_arrays(tmp_path / "x.npz")
