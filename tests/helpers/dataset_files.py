"""Small files in the formats of the data sets."""

import gzip
import hashlib
import io
import struct
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import savemat

from scarce._io.compressed import read_content
from scarce.datasets import DatasetFacts
from scarce.datasets._files import DataFile, FileSet
from scarce.datasets.mnist import idx_names, read_mnist_like

CIFAR10_BINARY = FileSet(
    ("bin",), tuple(map(DataFile, ("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin")))
)


def idx_bytes(array):
    array = np.asarray(array, np.uint8)
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_idx_set(folder, seed=0, packed=True, train="train", rows=slice(None)):
    """Write four idx files: 6 + 4 images of 3 × 3, classes 0 to 2; `rows` of the training images."""
    random = np.random.default_rng(seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for part, n in (("train", 6), ("t10k", 4)):
        images, labels = random.integers(0, 256, (n, 3, 3)), random.integers(0, 3, n)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            content = idx_bytes(array[rows] if part == "train" else array)
            name = f"{train if part == 'train' else part}-{kind}-ubyte"
            (folder / (f"{name}.gz" if packed else name)).write_bytes(
                gzip.compress(content) if packed else content
            )
    return folder


def color_images(n, seed=0):
    """n color images, channels first, as CIFAR stores them."""
    return np.random.default_rng(seed).integers(0, 256, (n, 3, 32, 32)).astype(np.uint8)


def write_cifar10_binary(folder, images, labels, test_images, test_labels):
    """Write the binary layout of CIFAR-10, with the training images in two files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    half = len(images) // 2
    for name, part, truth in (
        ("data_batch_1.bin", images[:half], labels[:half]),
        ("data_batch_2.bin", images[half:], labels[half:]),
        ("test_batch.bin", test_images, test_labels),
    ):
        (folder / name).write_bytes(
            b"".join(bytes([k]) + image.tobytes() for image, k in zip(part, truth, strict=True))
        )
    return folder


PETS = ("cat", "cow", "dog")


def pet_dataset(files, n_train=6):
    """The facts of a data set with the idx files of `write_idx_set`."""
    read = partial(read_mnist_like, classes=PETS, n_train=n_train)
    return DatasetFacts("pets", n_train, 4, 3, (3, 3), (files,), read)


def idx_file_set(folder=None, train="train", folders=("pets", "PETS/raw")):
    """The four files of a data set, with the checksums of those in a folder."""
    names = idx_names(train)
    digests = [None] * 4
    if folder is not None:
        digests = [hashlib.sha256(read_content(folder / f"{name}.gz")).hexdigest() for name in names]
    return FileSet(
        folders, tuple(DataFile(name, d and f"sha256:{d}") for name, d in zip(names, digests, strict=True))
    )


ARFF = """%% a comment
@relation 'two words'
@attribute 'first column' real
@attribute colour { red, green, blue}
@attribute many {%s}
@attribute height integer
@attribute class { ant, bee }
@data
1.5,green,v7,3,bee
2,red,v0,4,ant
"""


def arff_bytes(n_values: int = 51) -> bytes:
    return (ARFF % ",".join(f"v{number}" for number in range(n_values))).encode()


def mat_bytes(**arrays: object) -> bytes:
    file = io.BytesIO()
    savemat(file, arrays)
    return file.getvalue()
