"""`load_table`: finding table files, and reporting missing or wrong ones."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from helpers.dataset_files import arff_bytes, mat_bytes

from scarce.datasets import available_tables, load_table
from scarce.errors import FileError


def write_random_lost_file(folder: Path) -> None:
    """Write random candidate sets with the size of the data set Lost."""
    random = np.random.default_rng(0)
    target = np.eye(16)[random.integers(16, size=1122)].T
    content = mat_bytes(
        data=random.normal(size=(1122, 3)), target=target, partial_target=np.maximum(target, target[::-1])
    )
    (folder / "partial-label").mkdir()
    (folder / "partial-label" / "lost.mat.gz").write_bytes(gzip.compress(content))


def test_load_table_finds_file_in_data_dir_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_random_lost_file(tmp_path)
    data = load_table("lost", tmp_path)
    assert repr(data) == "TableDataset('lost', 1,122 examples, 16 classes)"
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    assert load_table("lost").checksum == data.checksum


def test_load_table_rejects_missing_and_wrong_file(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        load_table("vowel", tmp_path)
    assert str(caught.value) == (
        "vowel was not found; expected the file tables/vowel.arff in a folder named with data_dir= (--data-dir) or $SCARCE_DATA."
    )
    (tmp_path / "tables").mkdir()
    path = tmp_path / "tables" / "vowel.arff"
    path.write_bytes(arff_bytes())
    with pytest.raises(FileError, match=r"vowel\.arff holds 2 examples of 2 classes; expected 990 of 11"):
        load_table("vowel", tmp_path)
    path.write_bytes(b"?")
    with pytest.raises(FileError, match=r"vowel\.arff: this is not an ARFF file"):
        load_table("vowel", tmp_path)


def test_load_table_digits_need_no_file() -> None:
    data = load_table("digits")
    assert (len(data.y), len(data.classes)) == (1797, 10)
    assert available_tables()["digits"].file == ""
