"""The checksum of an image data set."""

import dataclasses

import numpy as np

from scarce.datasets import ImageDataset


def test_image_dataset_checksum_depends_on_content_only():
    X, y = np.arange(32, dtype=np.uint8).reshape(2, 4, 4), np.array([0, 1])
    data = ImageDataset("a", X, y, X, y, ("small", "large"))
    assert dataclasses.replace(data, name="b", X_train=X.copy()).checksum == data.checksum
    moved = np.ascontiguousarray(X.transpose(1, 2, 0)).transpose(
        2, 0, 1
    )  # equal, but with another memory layout
    assert dataclasses.replace(data, X_train=moved).checksum == data.checksum
    others = [
        {"X_train": X + 1},
        {"X_train": X.reshape(4, 2, 4)},
        {"X_train": X.astype(np.int8)},
        {"y_test": y[::-1]},
        {"classes": ("small", "huge")},
    ]
    assert len({dataclasses.replace(data, **other).checksum for other in others} | {data.checksum}) == 6
