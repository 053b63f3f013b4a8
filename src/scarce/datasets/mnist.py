"""A folder with the four files that MNIST, Fashion-MNIST and KMNIST consist of."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from scarce.datasets.idx import read_idx
from scarce.errors import FileError
from scarce.files import require_folder

__all__ = ["load_mnist_like"]


def load_mnist_like(
    folder: str | Path,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Read training images and labels and test images and labels from a folder of idx files.

    The files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte`` and
    ``t10k-labels-idx1-ubyte``, each as it is or gzipped (``.gz``).

    Examples
    --------
    >>> load_mnist_like("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    folder = require_folder(folder)
    return *_part(folder, "train"), *_part(folder, "t10k")


def _part(folder: Path, part: str) -> tuple[NDArray[Any], NDArray[Any]]:
    images_path, labels_path = _find(folder, f"{part}-images", 3), _find(folder, f"{part}-labels", 1)
    images, labels = read_idx(images_path), read_idx(labels_path)
    for path, array, rank in ((images_path, images, 3), (labels_path, labels, 1)):
        if array.ndim != rank:
            raise FileError(f"{path} has {array.ndim} dimensions; expected {rank}: it is another file.")
    if len(images) != len(labels):
        raise FileError(
            f"{images_path} has {len(images)} images, but {labels_path} has {len(labels)} labels; "
            "they are not of one data set."
        )
    return images, labels


def _find(folder: Path, stem: str, rank: int) -> Path:
    # Some mirrors write a dot where the original has a dash.
    names = [f"{stem}{mark}idx{rank}-ubyte{packed}" for mark in "-." for packed in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileError(f"{folder} lacks the file {names[0]} (or {names[1]}); put it there.")
