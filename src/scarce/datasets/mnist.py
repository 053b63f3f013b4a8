"""MNIST, Fashion-MNIST and KMNIST, each in four idx files."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.idx import parse_idx
from scarce._io.paths import check_dir
from scarce.datasets._files import DataFile, FileSet, LocatedFiles, locate_file
from scarce.datasets.image_dataset import SplitArrays
from scarce.errors import FileError


def idx_names(train: str = "train", test: str = "t10k") -> tuple[str, str, str, str]:
    """Return the names of the four files; those of the training and test images start with `train` and `test`.

    Examples
    --------
    >>> idx_names()[:2]
    ('train-images-idx3-ubyte', 'train-labels-idx1-ubyte')
    """
    return (
        f"{train}-images-idx3-ubyte",
        f"{train}-labels-idx1-ubyte",
        f"{test}-images-idx3-ubyte",
        f"{test}-labels-idx1-ubyte",
    )


def load_mnist_like(
    folder: str | Path,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Read images and labels, for training and testing, from a folder of idx files.

    The files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte`` and
    ``t10k-labels-idx1-ubyte``, each plain or gzipped (``.gz``).

    Parameters
    ----------
    folder : path
        The folder with the four files.

    Returns
    -------
    X_train, y_train, X_test, y_test : arrays
        Images of shape (n, height, width), and their classes of shape (n,).

    Raises
    ------
    FileError
        If a file is missing, damaged or of another format.

    See Also
    --------
    load_dataset : Load a known data set by name, with checksums and downloads.

    Examples
    --------
    >>> load_mnist_like("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    folder, paths = check_dir(folder), {}
    for name in idx_names():
        path = locate_file(folder, name)
        if path is None:
            raise FileError(f"{folder} lacks the file {name} (or {name}.gz); put it into the folder.")
        paths[name] = path
    return _read_splits(LocatedFiles(FileSet((), tuple(map(DataFile, paths))), folder, paths))


def read_mnist_like(found: LocatedFiles, classes: tuple[str, ...], n_train: int | None = None) -> SplitArrays:
    """Return the arrays of a data set of idx files, with the first `n_train` training images or all."""
    X_train, y_train, X_test, y_test = _read_splits(found)
    return SplitArrays(
        X_train[:n_train], y_train[:n_train].astype(np.int64), X_test, y_test.astype(np.int64), classes
    )


def _read_splits(found: LocatedFiles) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    names = [file.name for file in found.files.files]  # in the order of idx_names
    return *_read_split(found, *names[:2]), *_read_split(found, *names[2:])


def _read_split(found: LocatedFiles, images_name: str, labels_name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    images_path, labels_path = found.paths[images_name], found.paths[labels_name]
    images = parse_idx(found.read(images_name), images_path)
    labels = parse_idx(found.read(labels_name), labels_path)
    for path, array, rank in ((images_path, images, 3), (labels_path, labels, 1)):
        if array.ndim != rank:
            raise FileError(f"{path} has {array.ndim} dimensions; expected {rank}: it is the wrong file.")
    if len(images) != len(labels):
        raise FileError(
            f"{images_path} has {len(images)} images, but {labels_path} has {len(labels)} labels; "
            "they belong to different data sets."
        )
    return images, labels
