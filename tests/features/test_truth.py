"""`read_truth`: true labels from CSV, NumPy and idx files."""

import numpy as np
import pytest

from scarce.errors import LabelError, ScarceError
from scarce.features import read_truth


@pytest.mark.parametrize(
    ("text", "options", "expected", "ids"),
    [
        ("example_id,label\np,cat\nq,dog\n", {}, ["cat", "dog"], ["p", "q"]),
        ("id,class,width\n1,3,0.5\n2,0,0.7\n", {}, [3, 0], [1, 2]),
        ("animal\ncat\ndog\n", {}, ["cat", "dog"], None),
        ("photo,animal\nf,cat\n", {"id_column": "photo"}, ["cat"], ["f"]),
    ],
)
def test_read_truth_reads_csv(tmp_path, text, options, expected, ids):
    (tmp_path / "y.csv").write_text(text)
    labels, names = read_truth(tmp_path / "y.csv", **options)
    assert labels.tolist() == expected
    assert names is None if ids is None else names.tolist() == ids


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("id,label\np,cat\nq,\n", ["line 3, column label", "missing"]),
        ("id,label,class\np,cat,dog\n", ["label, class", "name it label"]),
        ("a,b\n1,2\n", ["a, b", "name it label"]),
        ("id\n1\n", ["none"]),
        ("id,label\n", ["shape (0,)"]),
        ("id,label\n,cat\n", ["row 0", "id is missing"]),
    ],
)
def test_read_truth_rejects_invalid_csv(tmp_path, text, parts):
    (tmp_path / "y.csv").write_text(text)
    with pytest.raises(ScarceError) as caught:
        read_truth(tmp_path / "y.csv")
    assert all(part in str(caught.value) for part in ("y.csv", *parts))


def test_read_truth_reads_npy_and_idx(tmp_path):
    for array, expected in (([2, 0], [2, 0]), ([2.0, 0.0], [2, 0]), (["a", "b"], ["a", "b"])):
        np.save(tmp_path / "y.npy", np.array(array))
        labels, ids = read_truth(tmp_path / "y.npy")
        assert labels.tolist() == expected
        assert labels.dtype.kind != "f"
        assert ids is None
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\x02\x07\x01")
    assert read_truth(tmp_path / "train-labels-idx1-ubyte")[0].tolist() == [7, 1]


@pytest.mark.parametrize(
    ("array", "options", "part"),
    [
        (np.eye(2), {}, r"shape \(2, 2\)"),
        (np.array([1, np.nan]), {}, "row 1: the true label is nan"),
        (np.array([1.5]), {}, "row 0: the true label is 1.5"),
        (np.array([1]), {"id_column": "id"}, "is for tables"),
    ],
)
def test_read_truth_rejects_invalid_arrays(tmp_path, array, options, part):
    np.save(tmp_path / "y.npy", array)
    with pytest.raises(ScarceError, match=rf"y\.npy: .*{part}"):
        read_truth(tmp_path / "y.npy", **options)


def test_read_truth_rejects_unknown_extension(tmp_path):
    (tmp_path / "y.txt").write_text("1")
    with pytest.raises(ScarceError, match=r"y\.txt ends in '\.txt'"):
        read_truth(tmp_path / "y.txt")


@pytest.mark.parametrize("value", [1e300, np.nan, 0.5])
def test_read_truth_rejects_floats_that_are_not_exact_integers(tmp_path, value):
    np.save(tmp_path / "y.npy", [0.0, value])
    with pytest.raises(LabelError, match=r"row 1: the true label is .*; expected a whole number or a name"):
        read_truth(tmp_path / "y.npy")
