"""`read_features` from arrays, CSV and Parquet files, and the errors for invalid ones."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scarce.errors import FeatureError, ScarceError
from scarce.features import Features, read_features


@pytest.fixture
def write(tmp_path):
    def write(text, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def error_of_reading(path, **options):
    with pytest.raises(ScarceError) as caught:
        read_features(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


def test_read_features_reads_npy(tmp_path):
    values = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.save(tmp_path / "x.npy", values)
    features = read_features(str(tmp_path / "x.npy"))
    assert np.array_equal(features.values, values)
    assert features.values.dtype == np.uint8
    assert (features.ids, features.names) == (None, None)


@pytest.mark.parametrize("name", ["X", "features", "inputs", "anything"])
def test_read_features_reads_npz_with_ids(tmp_path, name):
    np.savez(tmp_path / "x.npz", **{name: np.eye(2), "ids": np.array(["p", "q"])})
    features = read_features(tmp_path / "x.npz")
    assert features.values.tolist() == [[1, 0], [0, 1]]
    assert features.ids.tolist() == ["p", "q"]
    np.savez(tmp_path / "x.npz", **{name: np.eye(2), "y": np.arange(2)})
    if name == "anything":
        assert "anything, y" in error_of_reading(tmp_path / "x.npz")
    else:
        assert read_features(tmp_path / "x.npz").ids is None


@pytest.mark.parametrize("id_name", ["example_id", "id", "photo"])
def test_read_features_reads_csv_with_ids(write, id_name):
    text = f"width,{id_name},height\n1.5,p1,-2\n 3 ,p2,1e3\n"
    options = {"id_column": "photo"} if id_name == "photo" else {}
    features = read_features(write(text), **options)
    assert features.values.tolist() == [[1.5, -2], [3, 1000]]
    assert features.ids.tolist() == ["p1", "p2"]
    assert features.names == ["width", "height"]


def test_read_features_reads_long_csv_without_ids(write):
    values = np.random.default_rng(0).normal(size=(10_000, 2))
    path = write(pd.DataFrame(values).to_csv(index=False))
    features = read_features(path)
    assert np.array_equal(features.values, values)
    assert (features.ids, features.names) == (None, ["0", "1"])


def test_read_features_keeps_nan_in_csv(write):
    assert np.isnan(read_features(write("a,b\n1,nan\n")).values[0, 1])


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("a,b\n1,2\n3,\n", {}, ["line 3, column b", "missing"]),
        ("a,b\n1,2\n3, \n", {}, ["line 3, column b", "missing"]),
        ("a,b\n1,2\nred,4\n", {}, ["line 3, column a", "'red'", "id_column="]),
        ("a,b\n1,2\n3\n", {}, ["line 3: expected 2 cells"]),
        ("a,a\n1,2\n", {}, ["two columns are named 'a'"]),
        (",a\n0,2\n", {}, ["column 1 has no name"]),
        ("a,b\n", {}, ["no rows"]),
        ("", {}, ["empty"]),
        ("id\n1\n", {}, ["shape (1, 0)"]),
        ("id,a\np,1\np,2\n", {}, ["id p", "rows 0 and 1"]),
        ("id,a\np,1\n,2\n", {}, ["row 1", "id is missing"]),
        ("id,example_id,a\np,1,2\n", {}, ["both example_id and id", "id_column="]),
        ("a,b\n1,2\n", {"id_column": "c"}, ["no column 'c'", "--id-column"]),
        ("1.5,2.5\n3,4\n", {}, ["line 1 contains numbers", "names of the columns"]),
        ("a;b\n1;2\n", {}, ["';'", "commas"]),
        ("a,b\n1,2\n", {"image_size": "8x8"}, ["image_size='8x8'", "folders of images"]),
    ],
)
def test_read_features_rejects_invalid_csv(write, text, options, parts):
    message = error_of_reading(write(text), **options)
    assert all(part in message for part in parts)


def test_read_features_reads_parquet(tmp_path):
    table = pa.table({"a": [1, 2], "id": [7, 8], "b": [0.5, 1.5], "c": [True, False]})
    pq.write_table(table, tmp_path / "x.parquet")
    features = read_features(tmp_path / "x.parquet")
    assert features.values.tolist() == [[1, 0.5, 1], [2, 1.5, 0]]
    assert (features.ids.tolist(), features.names) == ([7, 8], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"a": [1.0, None]}, ["row 1, column a", "missing"]),
        ({"a": [1, 2], "b": ["x", "y"]}, ["column b", "string", "id_column="]),
        ({"a": pa.array([], pa.float64())}, ["no rows"]),
        ({"id": [1, 2]}, ["shape (2, 0)"]),
        ({"id": [1, None], "a": [1, 2]}, ["row 1", "id is missing"]),
    ],
)
def test_read_features_rejects_invalid_parquet(tmp_path, columns, parts):
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    message = error_of_reading(tmp_path / "x.parquet")
    assert all(part in message for part in parts)


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.arange(3), "shape (3,)"),
        (np.zeros((0, 3)), "shape (0, 3)"),
        (np.array([["a", "b"]]), "expected numbers"),
        (np.array([[1j, 2]]), "expected numbers"),
    ],
)
def test_read_features_rejects_invalid_arrays(tmp_path, array, part):
    np.save(tmp_path / "x.npy", array)
    assert part in error_of_reading(tmp_path / "x.npy")
    assert "id_column='a' is for tables" in error_of_reading(tmp_path / "x.npy", id_column="a")


def test_features_rejects_wrong_number_of_ids():
    with pytest.raises(ScarceError, match=r"ids have shape \(2,\), but there are 3 examples"):
        Features(np.eye(3), np.array([1, 2]))


@pytest.mark.parametrize(
    "name", ["x.npy", "x.npz", "x.csv", "x.parquet", "x-idx3-ubyte", "x-idx3-ubyte.gz", "x.mat"]
)
@pytest.mark.parametrize(
    "content", [b"", b"\0" * 40, b"PK\x03\x04", b"\x1f\x8b\x08\x00 half", b"\xff\xfe\x00"]
)
def test_read_features_rejects_garbage_in_every_format(write, name, content):
    error_of_reading(write(content, name))


def test_read_features_rejects_missing_file(tmp_path):
    assert "does not exist" in error_of_reading(tmp_path / "x.npy")
    with pytest.raises(ScarceError, match="cannot be read"):
        read_features("x" * 5000)


def test_read_features_rejects_pickled_objects(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    assert "Python objects" in error_of_reading(tmp_path / "x.npy")


@pytest.mark.parametrize("cell", ["1_000", "٣", "１２", "inf", "-Infinity", "1e400"])
def test_read_features_rejects_numbers_that_only_python_reads(write, cell):
    with pytest.raises(FeatureError, match=f"line 3, column b: '{cell}' is not a finite number"):
        read_features(write(f"a,b\n1,2\n3,{cell}\n"))
