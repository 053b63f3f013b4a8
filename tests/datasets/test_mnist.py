"""Folders of idx files in the layout of MNIST."""

import gzip

import numpy as np
import pytest
from helpers.dataset_files import idx_bytes

from scarce.datasets import load_mnist_like
from scarce.errors import FileError
from scarce.features import read_features


@pytest.fixture
def mnist(tmp_path):
    sizes = {"train": 3, "t10k": 2}
    for part, n in sizes.items():
        images = np.arange(n * 4).reshape(n, 2, 2) + len(part)
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(images)))
        (tmp_path / f"{part}-labels.idx1-ubyte").write_bytes(idx_bytes(np.arange(n)))
    return tmp_path


def test_load_mnist_like_reads_folder(mnist):
    train_x, train_y, test_x, test_y = load_mnist_like(mnist)
    assert (train_x.shape, test_x.shape) == ((3, 2, 2), (2, 2, 2))
    assert (train_x[0, 0, 0], test_x[0, 0, 0]) == (5, 4)
    assert (train_y.tolist(), test_y.tolist()) == ([0, 1, 2], [0, 1])
    assert np.array_equal(read_features(mnist / "train-images-idx3-ubyte.gz").values, train_x)


def test_load_mnist_like_rejects_faulty_folder(mnist):
    labels = mnist / "t10k-labels.idx1-ubyte"
    labels.write_bytes(idx_bytes(np.arange(5)))
    with pytest.raises(FileError, match=r"has 2 images, but .* has 5 labels"):
        load_mnist_like(mnist)
    labels.write_bytes(idx_bytes(np.zeros((2, 2))))
    with pytest.raises(FileError, match="2 dimensions; expected 1"):
        load_mnist_like(mnist)
    labels.unlink()
    with pytest.raises(FileError, match="lacks the file t10k-labels-idx1-ubyte"):
        load_mnist_like(mnist)
    with pytest.raises(FileError, match="is a file; expected a folder"):
        load_mnist_like(mnist / "train-images-idx3-ubyte.gz")
