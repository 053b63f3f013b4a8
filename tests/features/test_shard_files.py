"""Folders of .npy or Parquet files read as one array of rows, and folders that cannot be."""

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


def refused(path, **options):
    with pytest.raises(ScarceError) as caught:
        read_features(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("write", [write_npy, write_parquet])
@given(rows=st.lists(st.integers(-9, 8)))
def test_rows_in_any_order_and_more_than_once(tmp_path_factory, write, rows):
    folder = tmp_path_factory.getbasetemp() / f"any-order-{write.__name__}"
    shards = read_features(folder if folder.exists() else write(folder)).values
    assert (shards.shape, shards.ndim, len(shards), shards.dtype) == ((9, 4), 2, 9, np.float64)
    assert np.array_equal(shards.take(rows), VALUES[np.array(rows, int)])


def test_more_files_than_a_process_may_open(tmp_path):
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


def test_what_is_sent_to_another_process_does_not_take_the_rows_along(tmp_path):
    shards = read_features(write_npy(tmp_path / "shards", np.zeros((9, 1000)))).values
    shards.take([0])
    twin = copy.copy(shards)  # by the way of pickle
    assert (len(shards._open), len(twin._open)) == (1, 0)
    assert np.array_equal(twin.take([8]), np.zeros((1, 1000)))


def test_a_folder_of_arrays(tmp_path):
    images = np.arange(9 * 6, dtype=np.uint8).reshape(9, 2, 3)
    features = read_features(write_npy(tmp_path, images))
    assert repr(features.values) == "Shards(9 × 2 × 3 uint8 in 4 files)"
    assert np.array_equal(features.values.take([8, 0]), images[[8, 0]])
    assert (features.ids, features.names) == (None, None)


def test_arrays_with_columns_first(tmp_path):
    for number, part in enumerate(np.split(VALUES, 3)):
        np.save(tmp_path / f"{number}.npy", np.asfortranarray(part))
    assert np.array_equal(read_features(tmp_path).values.take([7, 1]), VALUES[[7, 1]])


def test_a_folder_of_tables_is_one_table_in_pieces(tmp_path):
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


def test_ids_are_numbers_only_if_they_are_in_every_file(tmp_path):
    assert read_features(write_parquet(tmp_path, ids=np.arange(9))).ids.tolist() == list(range(9))
    ids = np.array([*"12345678", "x"])
    assert read_features(write_parquet(tmp_path, ids=ids)).ids.tolist() == ids.tolist()


def test_columns_may_stand_in_another_order(tmp_path):
    write_parquet(tmp_path)
    pq.write_table(pa.table(dict(zip("dcba", VALUES[3:8].T[::-1], strict=True))), tmp_path / "part-2.parquet")
    assert np.array_equal(read_features(tmp_path).values.take(slice(None)), VALUES)


@pytest.mark.parametrize("name", ["_SUCCESS", "_metadata", ".part-0.npy.crc"])
def test_hidden_files_are_left_alone(tmp_path, name):
    write_npy(tmp_path)
    (tmp_path / name).write_bytes(b"")
    assert len(read_features(tmp_path).values) == 9


def test_images_stay_images_whatever_stands_beside_them(tmp_path):
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
        (break_shape, ["part-2.npy holds float64 of shape (9, 3)", "part-0.npy float64 of shape (3, 4)"]),
        (break_type, ["part-2.npy holds float32", "the same type"]),
        (break_rows, ["part-0.npy holds float64 of shape ()"]),
        (empty, ["shape (0, 4)"]),
        (lambda folder: (folder / "part-2.npy").write_bytes(b"\x93NUMPY"), ["part-2.npy", "damaged"]),
        (lambda folder: (folder / "part-2.npy").write_bytes((folder / "part-2.npy").read_bytes()[:-8]), ["cut short"]),
        (lambda folder: (folder / "notes.txt").touch(), ["notes.txt stands between .npy files", "elsewhere"]),
        (lambda folder: (folder / "more.parquet").touch(), ["part-0.npy stands between .parquet files"]),
        (lambda folder: (folder / "more.npy").mkdir(), ["more.npy stands between .npy files"]),
        (lambda folder: np.save(folder / "part-10.npy", VALUES), ["part-10.npy comes before part-2.npy", "digits"]),
        (lambda folder: np.save(folder / "part-2.npy", np.array([["a"]])), ["part-2.npy holds <U1"]),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_together(tmp_path, breaking, parts):
    breaking(write_npy(tmp_path))
    message = refused(tmp_path)
    assert all(part in message for part in parts), message


def table(**columns):
    return lambda folder: pq.write_table(pa.table(columns), folder / "part-2.parquet")


@pytest.mark.parametrize(
    ("breaking", "parts"),
    [
        (table(a=[1.0], b=[1.0], c=[1.0]), ["part-2.parquet", "part-0.parquet", "it lacks d, id", "alike"]),
        (table(a=[1], b=[1], c=[1], d=[1], id=[1], e=[1]), ["part-2.parquet", "it has also e"]),
        (table(a=[1], b=[1], c=[1], d=[1], id=pa.array([None], pa.int64())), ["part-2.parquet: row 0", "id is missing"]),
        (table(a=[1], b=[1], c=[1], d=[1], id=[0]), ["the id 0 stands at rows 0 and 3"]),
        (lambda folder: (folder / "part-2.parquet").write_bytes(b"PAR1"), ["part-2.parquet is damaged"]),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_together(tmp_path, breaking, parts):
    breaking(write_parquet(tmp_path, ids=np.arange(9)))
    message = refused(tmp_path)
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        (
            {"a": [1.0], "b": [None], "c": [1.0], "d": [1.0]},
            "part-2.parquet: row 0, column b: the value is missing",
        ),
        ({"a": [1.0], "b": ["red"], "c": [1.0], "d": [1.0]}, "part-2.parquet: column b holds string values"),
    ],
)
def test_values_that_are_no_numbers_are_named_when_they_are_read(tmp_path, columns, part):
    table(**columns)(write_parquet(tmp_path))
    shards = read_features(tmp_path).values
    with pytest.raises(FeatureError) as caught:
        shards.take([3])
    assert part in str(caught.value)


@pytest.mark.parametrize(("write", "ending"), [(write_npy, "npy"), (write_parquet, "parquet")])
def test_files_that_change_while_they_are_used(tmp_path, write, ending):
    shards = read_features(write(tmp_path)).values
    (tmp_path / f"part-0.{ending}").replace(tmp_path / f"part-2.{ending}")
    with pytest.raises(ScarceError, match=rf"part-2\.{ending} has changed while it was in use"):
        shards.take([3])


def test_options_that_are_for_other_features(tmp_path):
    write_npy(tmp_path / "npy"), write_parquet(tmp_path / "parquet")
    assert "image_size='8x8' is for folders of images" in refused(tmp_path / "npy", image_size="8x8")
    assert "id_column='a' is for tables" in refused(tmp_path / "npy", id_column="a")
    assert "there is no column 'e'" in refused(tmp_path / "parquet", id_column="e")
    features = read_features(tmp_path / "parquet", id_column="a", image_size=None)
    assert features.names == ["b", "c", "d"]
