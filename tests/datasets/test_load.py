"""`load_dataset`: what is read, and what does not match the facts of a data set."""

import dataclasses

import numpy as np
import pytest
from helpers.dataset_files import idx_file_set, pet_dataset, write_idx_set
from sklearn.datasets import load_digits

from scarce.datasets import load_dataset
from scarce.datasets.registry import DATASETS
from scarce.errors import FileError, MethodError


def test_load_dataset_reads_same_images_from_alternative_files(tmp_path, monkeypatch):
    alternatives = (idx_file_set(train="train-first2", folders=("first",)), idx_file_set(folders=("all",)))
    monkeypatch.setitem(DATASETS, "pets", pet_dataset(alternatives, n_train=2))
    write_idx_set(tmp_path / "a" / "all")
    write_idx_set(tmp_path / "b" / "first", train="train-first2", rows=slice(2))
    of_all, of_first = load_dataset("pets", tmp_path / "a"), load_dataset("pets", tmp_path / "b")
    assert len(of_all.X_train) == 2
    assert of_all.checksum == of_first.checksum


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"n_train": 7}, r"shape \(6, 3, 3\); expected \(7, 3, 3\)"),
        ({"n_test": 5}, r"shape \(4, 3, 3\); expected \(5, 3, 3\)"),
        ({"shape": (9,)}, r"shape \(6, 3, 3\); expected \(6, 9\)"),
        ({"n_classes": 2}, "classes from [01] to 2; expected 0 to 1"),
    ],
)
def test_load_dataset_rejects_files_of_another_data_set(tmp_path, monkeypatch, changes, part):
    write_idx_set(tmp_path / "pets")
    monkeypatch.setitem(DATASETS, "pets", dataclasses.replace(pet_dataset((idx_file_set(),)), **changes))
    with pytest.raises(FileError, match=f"the files of pets hold .*{part}: they belong to another data set"):
        load_dataset("pets", tmp_path)


def test_load_dataset_rejects_annotation_for_digits():
    with pytest.raises(MethodError, match="leave it out for digits"):
        load_dataset("digits", annotation=0)


def test_load_dataset_digits_equal_scikit_learn_digits():
    data, original = load_dataset("digits"), load_digits()
    for X, y, rows in (
        (data.X_test, data.y_test, range(0, 1797, 3)),
        (data.X_train, data.y_train, [row for row in range(1797) if row % 3]),
    ):
        assert y.tolist() == original.target[rows].tolist()
        assert np.rint(X / 255 * 16).astype(int).tolist() == original.images[rows].astype(int).tolist()
        assert np.bincount(y).min() > len(y) / 12
