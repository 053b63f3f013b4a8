"""Small files in the formats of the data sets."""

import gzip
import struct
from pathlib import Path

import numpy as np


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


def colour_images(n, seed=0):
    """n colour images, channel first, as CIFAR stores them."""
    return np.random.default_rng(seed).integers(0, 256, (n, 3, 32, 32)).astype(np.uint8)


def write_cifar10_binary(folder, images, labels, test_images, test_labels):
    """Write the binary layout: the training images spread over two files."""
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
