"""Pickles of arrays are read without calling the functions they name."""

import pickle
import struct

import numpy as np
import pytest

from scarce.datasets._unpickle import _scalar, unpickle
from scarce.errors import FileError


@pytest.mark.parametrize("protocol", range(6))
def test_unpickle_round_trips_arrays_of_every_dtype(tmp_path, protocol):
    arrays = [
        np.arange(6).astype(kind).reshape(2, 3) for kind in ("<i8", ">i4", "u1", "<f4", ">f8", "?", "<u2")
    ]
    arrays += [np.asfortranarray(arrays[0]), np.array(5)]
    read = unpickle(pickle.dumps({"arrays": arrays, "number": np.int16(-3)}, protocol), tmp_path / "a.pkl")
    for array, again in zip(arrays, map(np.asarray, read["arrays"]), strict=True):
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)
    assert read["number"] == -3


def test_unpickle_rejects_truncated_pickle(tmp_path):
    content = pickle.dumps({"data": np.arange(4), "labels": [1, 2]}, 4)
    for length in range(len(content)):
        with pytest.raises(FileError, match="damaged, truncated or not a pickle of arrays"):
            unpickle(content[:length], tmp_path / "a.pkl")


@pytest.mark.parametrize(
    "name",
    [
        "builtins\neval",
        "numpy\nload",
        "numpy\nndarray.tofile",
        "numpy.core.multiarray\nfromfile",
        "_codecs\nlookup",
    ],
)
def test_unpickle_rejects_names_that_arrays_do_not_need(tmp_path, name):
    with pytest.raises(FileError, match=f"asks to call {name.replace(chr(10), '.')}"):
        unpickle(b"c" + name.encode() + b"\n.", tmp_path / "a.pkl")


@pytest.mark.parametrize("kind", ["O", "V8", "S8", "U2", "M8[s]", "c16"])
def test_unpickle_rejects_arrays_without_plain_numbers(tmp_path, kind):
    with pytest.raises(FileError, match="not a pickle of arrays"):
        unpickle(pickle.dumps({"data": np.zeros(2, kind)}, 4), tmp_path / "a.pkl")


def test_unpickle_rejects_structured_arrays(tmp_path):
    with pytest.raises(FileError, match="not a pickle of arrays"):
        unpickle(pickle.dumps({"data": np.zeros(2, "i4,f8")}, 4), tmp_path / "a.pkl")


COSTLY = {
    "deep tuple": b"(" * 1_000_000 + b"t" * 1_000_000 + b".",
    "deep tuple of one": b")" + b"\x85" * 1_000_000 + b".",
    "deep list": b"]" * 100_000 + b"a" * 99_999 + b".",
    "deep key": b"}" + b")" + b"\x85" * 1_000_000 + b"K\x01s.",
    "memo index": b"\x80\x02Nr" + struct.pack("<I", 2**27) + b".",
    "memo index as text": b"Np134217728\n.",
    "length of bytes": b"\x8e" + struct.pack("<Q", 2**31) + b".",
    "length of bytearray": b"\x96" + struct.pack("<Q", 2**31) + b".",
    "length of text": b"\x8d" + struct.pack("<Q", 2**31) + b".",
    "length of integer": b"\x8b" + struct.pack("<i", 2**31 - 1) + b".",
    "length of frame": b"\x80\x04\x95" + struct.pack("<Q", 2**31) + b"}.",
    "missing memo entry": b"h\x07.",
    "repeated values": b"\x80\x02B"
    + struct.pack("<I", 10**6)
    + bytes(10**6)
    + b"q\x00("
    + b"h\x00" * 10**5
    + b"l.",
    "doubled tuples": b"K\x01q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(31)) + b".",
    "list of itself": b"]q\x00h\x00a.",
    "extended shared list": b"](]q\x00h\x00K\x01ae.",
    "popped": b"N0N.",
    "object": b"cnumpy\ndtype\n)\x81.",
    "set": b"\x8f.",
}


@pytest.mark.parametrize("content", COSTLY.values(), ids=COSTLY)
def test_unpickle_rejects_costly_pickles_before_loading(tmp_path, content):
    with pytest.raises(FileError, match="damaged, truncated or not a pickle of arrays") as caught:
        unpickle(content, tmp_path / "a.pkl")
    assert isinstance(caught.value.__cause__, ValueError)  # of the scan, before anything is loaded


STATES = {
    "class": b"cnumpy\ndtype\n",
    "function": b"cnumpy.core.multiarray\nscalar\n",
    "dict": b"}",
    "number": b"K\x01",
}


@pytest.mark.parametrize("target", STATES.values(), ids=STATES)
def test_unpickle_does_not_set_state_of_functions_and_plain_values(tmp_path, target):
    with pytest.raises(FileError, match="damaged, truncated or not a pickle of arrays"):
        unpickle(target + b"N}U\x0c__defaults__(K\x01ts\x86b.", tmp_path / "a.pkl")
    assert _scalar.__defaults__ is None


def test_unpickle_rejects_list_of_one_large_array(tmp_path):
    content = {"images": [np.zeros(10**6, np.uint8)] * 10**5}
    with pytest.raises(FileError, match="damaged, truncated or not a pickle of arrays"):
        unpickle(pickle.dumps(content, 4), tmp_path / "a.pkl")


def test_unpickle_takes_shared_dtypes_and_nested_lists(tmp_path):
    array = np.arange(3)
    content = {"data": [array, array, array + 1], "names": [["a"], ["b"]], "rows": [[1, 2]] * 3}
    for protocol in range(5):
        read = unpickle(pickle.dumps(content, protocol), tmp_path / "a.pkl")
        assert [np.asarray(each).tolist() for each in read["data"]] == [[0, 1, 2], [0, 1, 2], [1, 2, 3]]
        assert read["rows"] == [[1, 2]] * 3
        assert read["names"] == [["a"], ["b"]]
