"""Folders of .npy or Parquet files are read as one array, and inconsistent folders are rejected."""

import copy
import gc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from scarce.errors import FeatureError, ScarceError
from scarce.features import read_features

SIZES = (3, 0, 5, 1)
VALUES = np.random.default_rng(0).normal(size=(sum(SIZES), 4))


def write_npy(folder, values=VALUES, sizes=SIZES):
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(values, np.cumsum(sizes)[:-1])):
        np.save(folder / f"part-{number}.npy", part)
    return folder


def write_parquet(folder, values=VALUES, sizes=SIZES, ids=None, names="abcd"):
    folder.mkdir(exist_ok=True)
    ends = np.cumsum(sizes)
    for number, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        columns = dict(zip(names, values[end - size : end].T, strict=True))
        if ids is not None:
            columns["id"] = ids[end - size : end]
        pq.write_table(pa.table(columns), folder / f"part-{number}.parquet")
    return folder


def error_of_reading(path, **options):
    with pytest.raises(ScarceError) as caught:
        read_features(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("write", [write_npy, write_parquet])
@given(rows=st.lists(st.integers(-9, 8)))
def test_shard_folder_takes_rows_in_any_order_and_repeatedly(tmp_path_factory, write, rows):
    folder = tmp_path_factory.getbasetemp() / f"any-order-{write.__name__}"
    shards = read_features(folder if folder.exists() else write(folder)).values
    assert (shards.shape, shards.ndim, len(shards), shards.dtype) == ((9, 4), 2, 9, np.float64)
    assert np.array_equal(shards.take(rows), VALUES[np.array(rows, int)])


def test_shard_folder_may_hold_more_files_than_can_be_open(tmp_path):
    resource = pytest.importorskip("resource")
    values = np.arange(400.0).reshape(200, 2)
    for number in range(200):
        np.save(tmp_path / f"{number:03d}.npy", values[[number]])
    gc.collect()
    now = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/dev/fd").iterdir())) + 150, now[1]))
    try:
        shards = read_features(tmp_path).values
        assert np.array_equal(shards.take(slice(None, None, -1)), values[::-1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, now)


def test_shards_pickle_without_open_files(tmp_path):
    shards = read_features(write_npy(tmp_path / "shards", np.zeros((9, 1000)))).values
    shards.take([0])
    twin = copy.copy(shards)  # copies through pickle
    assert (len(shards._open), len(twin._open)) == (1, 0)
    assert np.array_equal(twin.take([8]), np.zeros((1, 1000)))


def test_npy_folder_is_read_as_shards(tmp_path):
    images = np.arange(9 * 6, dtype=np.uint8).reshape(9, 2, 3)
    features = read_features(write_npy(tmp_path, images))
    assert repr(features.values) == "Shards(9 × 2 × 3 uint8 in 4 files)"
    assert np.array_equal(features.values.take([8, 0]), images[[8, 0]])
    assert (features.ids, features.names) == (None, None)


def test_npy_folder_in_fortran_order_is_read_as_shards(tmp_path):
    for number, part in enumerate(np.split(VALUES, 3)):
        np.save(tmp_path / f"{number}.npy", np.asfortranarray(part))
    assert np.array_equal(read_features(tmp_path).values.take([7, 1]), VALUES[[7, 1]])


def test_parquet_folder_equals_single_table(tmp_path):
    ids = np.array([f"p{row}" for row in range(9)])
    features = read_features(write_parquet(tmp_path / "shards", ids=ids))
    pq.write_table(
        pa.table({**dict(zip("abcd", VALUES.T, strict=True)), "id": ids}), tmp_path / "whole.parquet"
    )
    whole = read_features(tmp_path / "whole.parquet")
    assert np.array_equal(features.values.take(slice(None)), whole.values)
    assert features.ids.tolist() == whole.ids.tolist()
    assert features.names == whole.names
    assert features.values.blocks == (3, 5, 1)


def test_parquet_folder_ids_are_numbers_only_if_all_files_agree(tmp_path):
    assert read_features(write_parquet(tmp_path, ids=np.arange(9))).ids.tolist() == list(range(9))
    ids = np.array([*"12345678", "x"])
    assert read_features(write_parquet(tmp_path, ids=ids)).ids.tolist() == ids.tolist()


def test_parquet_folder_aligns_columns_by_name(tmp_path):
    write_parquet(tmp_path)
    pq.write_table(pa.table(dict(zip("dcba", VALUES[3:8].T[::-1], strict=True))), tmp_path / "part-2.parquet")
    assert np.array_equal(read_features(tmp_path).values.take(slice(None)), VALUES)


@pytest.mark.parametrize("name", ["_SUCCESS", "_metadata", ".part-0.npy.crc"])
def test_shard_folder_ignores_hidden_files(tmp_path, name):
    write_npy(tmp_path)
    (tmp_path / name).write_bytes(b"")
    assert len(read_features(tmp_path).values) == 9


def test_image_folder_with_npy_file_is_read_as_images(tmp_path):
    (tmp_path / "pets").mkdir()
    Image.new("L", (3, 2), 7).save(tmp_path / "pets" / "a.png")
    np.save(tmp_path / "labels.npy", [0])
    assert read_features(tmp_path).ids.tolist() == ["pets/a.png"]


def break_shape(folder):
    np.save(folder / "part-2.npy", VALUES[:, :3])


def break_type(folder):
    np.save(folder / "part-2.npy", VALUES.astype(np.float32))


def break_rows(folder):
    for number in range(4):
        np.save(folder / f"part-{number}.npy", 3.0)


def empty(folder):
    for number in range(4):
        np.save(folder / f"part-{number}.npy", VALUES[:0])


@pytest.mark.parametrize(
    ("breaking", "parts"),
    [
        (break_shape, ["part-2.npy contains float64 of shape (9, 3)", "part-0.npy float64 of shape (3, 4)"]),
        (break_type, ["part-2.npy contains float32", "the same type"]),
        (break_rows, ["part-0.npy contains float64 of shape ()"]),
        (empty, ["shape (0, 4)"]),
        (lambda folder: (folder / "part-2.npy").write_bytes(b"\x93NUMPY"), ["part-2.npy", "damaged"]),
        (lambda folder: (folder / "part-2.npy").write_bytes((folder / "part-2.npy").read_bytes()[:-8]), ["truncated"]),
        (lambda folder: (folder / "notes.txt").touch(), ["notes.txt is in a folder of .npy shards", "elsewhere"]),
        (lambda folder: (folder / "more.parquet").touch(), ["part-0.npy is in a folder of .parquet shards"]),
        (lambda folder: (folder / "more.npy").mkdir(), ["more.npy is in a folder of .npy shards"]),
        (lambda folder: np.save(folder / "part-10.npy", VALUES), ["part-10.npy comes before part-2.npy", "digits"]),
        (lambda folder: np.save(folder / "part-2.npy", np.array([["a"]])), ["part-2.npy contains <U1"]),
    ],
)  # fmt: skip
def test_npy_folder_rejects_inconsistent_files(tmp_path, breaking, parts):
    breaking(write_npy(tmp_path))
    message = error_of_reading(tmp_path)
    assert all(part in message for part in parts), message


def write_part_2(**columns):
    return lambda folder: pq.write_table(pa.table(columns), folder / "part-2.parquet")


@pytest.mark.parametrize(
    ("breaking", "parts"),
    [
        (write_part_2(a=[1.0], b=[1.0], c=[1.0]), ["part-2.parquet", "part-0.parquet", "it lacks d, id", "same columns"]),
        (write_part_2(a=[1], b=[1], c=[1], d=[1], id=[1], e=[1]), ["part-2.parquet", "it also has e"]),
        (write_part_2(a=[1], b=[1], c=[1], d=[1], id=pa.array([None], pa.int64())), ["part-2.parquet: row 0", "id is missing"]),
        (write_part_2(a=[1], b=[1], c=[1], d=[1], id=[0]), ["the id 0 occurs in rows 0 and 3"]),
        (lambda folder: (folder / "part-2.parquet").write_bytes(b"PAR1"), ["part-2.parquet is damaged"]),
    ],
)  # fmt: skip
def test_parquet_folder_rejects_inconsistent_files(tmp_path, breaking, parts):
    breaking(write_parquet(tmp_path, ids=np.arange(9)))
    message = error_of_reading(tmp_path)
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        (
            {"a": [1.0], "b": [None], "c": [1.0], "d": [1.0]},
            "part-2.parquet: row 0, column b: the value is missing",
        ),
        (
            {"a": [1.0], "b": ["red"], "c": [1.0], "d": [1.0]},
            "part-2.parquet: column b contains string values",
        ),
    ],
)
def test_parquet_folder_names_invalid_values_when_read(tmp_path, columns, part):
    write_part_2(**columns)(write_parquet(tmp_path))
    shards = read_features(tmp_path).values
    with pytest.raises(FeatureError) as caught:
        shards.take([3])
    assert part in str(caught.value)


@pytest.mark.parametrize(("write", "ending"), [(write_npy, "npy"), (write_parquet, "parquet")])
def test_shard_folder_rejects_files_changed_while_in_use(tmp_path, write, ending):
    shards = read_features(write(tmp_path)).values
    (tmp_path / f"part-0.{ending}").replace(tmp_path / f"part-2.{ending}")
    with pytest.raises(ScarceError, match=rf"part-2\.{ending} has changed while it was in use"):
        shards.take([3])


def test_shard_folder_rejects_options_of_other_formats(tmp_path):
    write_npy(tmp_path / "npy"), write_parquet(tmp_path / "parquet")
    assert "image_size='8x8' is for folders of images" in error_of_reading(tmp_path / "npy", image_size="8x8")
    assert "id_column='a' is for tables" in error_of_reading(tmp_path / "npy", id_column="a")
    assert "there is no column 'e'" in error_of_reading(tmp_path / "parquet", id_column="e")
    features = read_features(tmp_path / "parquet", id_column="a", image_size=None)
    assert features.names == ["b", "c", "d"]
