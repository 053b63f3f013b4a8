"""Pickles of arrays are read without calling the functions they name."""

import pickle

import numpy as np
import pytest

from scarce.datasets._unpickle import unpickle
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
