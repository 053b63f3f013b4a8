"""Features and checksum of a table data set."""

import numpy as np

from scarce.datasets.table_dataset import N_TERMS, TableDataset


def test_table_dataset_features_ignore_words_of_test_rows() -> None:
    data = TableDataset(
        "texts", np.array(["red ant", "red bee", "blue wasp"]), np.array([0, 1, 1]), ("a", "b")
    )
    train, test = data.features([0, 1], [2])
    assert train.shape == (2, 3)
    assert test.nnz == 0
    many = np.array([" ".join(f"word{number}" for number in range(N_TERMS + 5))])
    assert TableDataset("many", many, np.array([0]), ("a", "b")).features([0], [0])[0].shape == (1, N_TERMS)


def test_table_dataset_checksum_depends_on_content_only() -> None:
    X, y, sets = np.eye(2), np.array([0, 1]), np.ones((2, 2), bool)
    others = [
        TableDataset("t", X + 1, y, ("a", "b")),
        TableDataset("t", X, y[::-1], ("a", "b")),
        TableDataset("t", X, y, ("a", "c")),
        TableDataset("t", X, y, ("a", "b"), sets),
        TableDataset("t", X, y, ("a", "b"), ~sets),
    ]
    checksums = {TableDataset("t", X, y, ("a", "b")).checksum, *(other.checksum for other in others)}
    assert len(checksums) == 6
    assert TableDataset("another name", X, y, ("a", "b")).checksum in checksums
