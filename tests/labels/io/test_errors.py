"""Unreadable and damaged label files raise a one-line error that names the file, and no other exception."""

import numpy as np
import pytest

from scarce.errors import ScarceError
from scarce.labels import ComplementaryLabels, read_labels

SUFFIXES = [".csv", ".npz", ".npy", ".parquet", ".json", ".jsonl"]
FORMS = {".npy": "indicator", ".json": "label-studio-answer", ".jsonl": "prodigy"}
CORRUPT_FILES = [
    b"",
    b"\n\n",
    b"\0" * 64,
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"PK\x03\x04 half a zip file",
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }",
    b"PAR1 and nothing more",
    b'[{"id": 1, "annotations": [',
    "naïve,café".encode("latin-1"),
    b'example_id,"cat',
    b"[" * 100_000,
    b"1" * 5000,
]


def read_expecting_error(path, **options):
    with pytest.raises(ScarceError) as caught:
        read_labels(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", CORRUPT_FILES)
def test_read_labels_rejects_corrupt_file(tmp_path, suffix, content):
    path = tmp_path / f"labels{suffix}"
    path.write_bytes(content)
    read_expecting_error(path, form=FORMS.get(suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_read_labels_rejects_missing_folder_and_unreadable_path(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"labels{suffix}"
    assert "does not exist" in read_expecting_error(path)
    path.mkdir()
    assert "is a folder" in read_expecting_error(path)
    path.rmdir()
    path.write_bytes(b"x")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "permissions" in read_expecting_error(path)


def test_read_labels_rejects_unknown_suffix(tmp_path):
    path = tmp_path / "labels.xlsx"
    path.write_bytes(b"x")
    assert "'.xlsx'" in read_expecting_error(path)
    assert ".csv, .npz" in read_expecting_error(path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("example_id,cat,cow\np1,no,\np2,no\n", ["line 3: expected 3 cells", "found 2"]),
        ("example_id,cat,cow\np1,no,\np2,no,,,\n", ["line 3: expected 3 cells", "found 5"]),
        ("example_id,cat,cow\np1,no,\n\np2,no,\n", ["line 3 is blank"]),
        ("example_id,cat,cat\np1,no,\n", ["two columns are named 'cat'"]),
        (",cat,cow\n0,no,\n", ["column 1 has no name", "index=False"]),
        ("example_id;cat;cow\np1;no;\n", ["separates its columns by ';'", "commas"]),
        ("example_id\tcat\tcow\np1\tno\t\n", ["separates its columns by '\\t'"]),
        ('example_id,cat,cow\np1,"no,\n', ["not valid CSV", "quotes"]),
        ('example_id,cat,cow\np1,"no"x,\n', ["line 2", "not valid CSV"]),
        ("example_id,cat,cow\np1,no,\n" + "x" * 200_000 + ",,\n", ["line 3", "not valid CSV"]),
        ("example_id,cat,cow\np1,no,\n\0\0\0\0", ["null bytes"]),
    ],
)
def test_read_labels_rejects_malformed_csv(tmp_path, text, parts):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    message = read_expecting_error(path)
    assert all(part in message for part in parts)


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_read_labels_survives_damage_anywhere_in_array_file(tmp_path, suffix):
    """A file that is truncated or has a flipped byte is either rejected or read unchanged."""
    whole, path = tmp_path / f"whole.{suffix}", tmp_path / f"labels.{suffix}"
    labels = ComplementaryLabels.from_answer_matrix([["no", "yes", ""], ["", "", "no"]], ids=["p", "q"])
    if suffix == "npz":
        labels.save(whole)
    else:
        np.save(whole, labels.indicator())
    form = "indicator" if suffix == "npy" else None
    content = whole.read_bytes()
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        for variant in (content[:position], bytes(damaged)):
            path.write_bytes(variant)
            try:
                again = read_labels(path, form=form)
                assert suffix == "npy" or again == labels  # .npz carries checksums
            except ScarceError as error:
                assert path.name in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"format": np.array("scarce-labels-2")}, "another version"),
        ({"format": np.array("other")}, "does not contain labels written by scarce"),
        ({"indices": np.array([0.5])}, "'indices' is missing or malformed"),
        ({"indptr": None}, "'indptr' is missing"),
        ({"answers.example": np.array([0])}, "'answers.class_index' is missing"),
        ({"indices": np.array([7, 8])}, "indices range from 7 to 8"),
        ({"indptr": np.array([0, 9, 2])}, "indptr does not split"),
        ({"ids": np.array(["p", "p"])}, "id p"),
        ({"ids": np.array(["p"])}, "ids has shape (1,)"),
        ({"confirmed": np.array([0, 5])}, "confirmed"),
    ],
)
def test_read_labels_rejects_npz_with_invalid_fields(tmp_path, change, part):
    parts = {
        "format": np.array("scarce-labels-1"),
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 2]),
        "classes": np.array(["a", "b", "c"]),
        "confirmed": np.array([-1, -1]),
    }
    np.savez(tmp_path / "labels.npz", **parts)
    assert len(read_labels(tmp_path / "labels.npz")) == 2
    changed = {name: value for name, value in (parts | change).items() if value is not None}
    np.savez(tmp_path / "labels.npz", **changed)
    assert part in read_expecting_error(tmp_path / "labels.npz")


def test_read_labels_rejects_pickled_objects(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "Python objects" in read_expecting_error(tmp_path / "a.npy", form="single", classes=3)


def test_read_labels_names_correct_suffix_of_array_file(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    assert "end in .npy" in read_expecting_error(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", np.eye(3))
    (tmp_path / "b.npz").rename(tmp_path / "b.npy")
    assert "end in .npz" in read_expecting_error(tmp_path / "b.npy", form="indicator")
