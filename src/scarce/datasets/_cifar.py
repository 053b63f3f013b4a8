"""CIFAR-10 and CIFAR-100, in the binary and the Python (pickle) layout.

CIFAR-100 is read with the twenty classes of CLCIFAR-20: the coarse classes of CIFAR-100 in their order, except that
streetcars belong to the transportation vehicles.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.datasets._files import LocatedFiles
from scarce.datasets._unpickle import unpickle
from scarce.datasets.image_dataset import SplitArrays
from scarce.errors import FileError

Images = NDArray[np.uint8]
Integers = NDArray[np.int64]

_PIXELS = 3 * 32 * 32
_STREETCAR, _TRANSPORTATION = 81, 18

# fmt: off
CIFAR10_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)
CIFAR20_CLASSES = (  # spelled as in CLCIFAR-20
    "aquatic_mammals", "fish", "flowers", "food_containers", "fruit, vegetables and mushrooms", "household electrical devices",
    "household furniture", "insects", "large carnivores and bear", "large man-made outdoor things", "large natural outdoor scenes",
    "large omnivores and herbivores", "medium-sized mammals", "non-insect invertebrates", "people", "reptiles", "small mammals",
    "trees", "transportation vehicles", "non-transportation vehicles",
)
# fmt: on


def read_cifar10(found: LocatedFiles) -> SplitArrays:
    """Return CIFAR-10."""
    return SplitArrays(
        *read_cifar10_split(found, "data"), *read_cifar10_split(found, "test"), CIFAR10_CLASSES
    )


def read_cifar20(found: LocatedFiles) -> SplitArrays:
    """Return CIFAR-100 with the twenty classes of CLCIFAR-20."""
    return SplitArrays(
        *read_cifar20_split(found, "train"), *read_cifar20_split(found, "test"), CIFAR20_CLASSES
    )


def read_cifar10_split(found: LocatedFiles, prefix: str) -> tuple[Images, Integers]:
    """Return the images and classes of the files of CIFAR-10 whose names begin with `prefix`, ``data`` or ``test``."""
    images, labels = _read_split(found, prefix, "labels")
    return images, labels[0]


def read_cifar20_split(found: LocatedFiles, prefix: str) -> tuple[Images, Integers]:
    """Return the images of the ``train`` or ``test`` file of CIFAR-100, and their classes in CLCIFAR-20."""
    images, (coarse, fine) = _read_split(found, prefix, "coarse_labels", "fine_labels")
    return images, np.where(fine == _STREETCAR, _TRANSPORTATION, coarse)


def _read_split(found: LocatedFiles, prefix: str, *keys: str) -> tuple[Images, Integers]:
    """Return all images of a split and one row of classes per key, from either layout."""
    images, labels = [], []
    for file in found.files.files:
        if file.name.startswith(prefix):
            read = _from_binary if file.name.endswith(".bin") else _from_pickle
            pixels, classes = read(found.read(file.name), found.paths[file.name], keys)
            images.append(pixels.reshape(-1, 3, 32, 32))
            labels.append(classes)
    return np.concatenate(images), np.concatenate(labels, axis=1)


def _from_binary(data: bytes, path: Path, keys: tuple[str, ...]) -> tuple[Images, Integers]:
    width = len(keys) + _PIXELS  # a byte for each class, then the pixels
    if not data or len(data) % width:
        raise FileError(
            f"{path} has {len(data)} bytes, not a multiple of {width}: it is truncated or the wrong file; download it again."
        )
    records = np.frombuffer(data, np.uint8).reshape(-1, width)
    return records[:, len(keys) :], records[:, : len(keys)].T.astype(np.int64)


def _from_pickle(data: bytes, path: Path, keys: tuple[str, ...]) -> tuple[Images, Integers]:
    content = unpickle(data, path)
    pixels = to_integers(content, "data", path)
    labels = [to_integers(content, key, path) for key in keys]
    if pixels.dtype != np.uint8 or pixels.shape[1:] != (_PIXELS,):
        raise FileError(
            f"{path}: the images are {pixels.dtype} of shape {pixels.shape}; expected uint8, n × {_PIXELS}: it is "
            "the wrong file."
        )
    if any(row.shape != pixels.shape[:1] for row in labels):
        raise FileError(
            f"{path} has {len(pixels)} images, but a different number of labels; it is the wrong file."
        )
    return pixels, np.stack(labels).astype(np.int64)


def to_integers(content: dict[str, Any], key: str, path: Path) -> NDArray[Any]:
    """Return what a pickle holds under a key as an array of integers.

    Examples
    --------
    >>> to_integers({"labels": [3, 1]}, "labels", Path("batch")).tolist()
    [3, 1]
    >>> to_integers({"labels": [3, 1]}, "data", Path("batch"))
    Traceback (most recent call last):
    scarce.errors.FileError: batch has no 'data', only labels; it is the wrong file.
    """
    if key not in content:
        raise FileError(
            f"{path} has no {key!r}, only {', '.join(content) or 'nothing'}; it is the wrong file."
        )
    try:
        array = np.asarray(content[key])
    except Exception as error:  # such as a ragged list
        raise FileError(f"{path}: {key!r} is not an array; it is the wrong file.") from error
    if array.dtype.kind not in "iu" or not array.size:
        raise FileError(f"{path}: {key!r} does not hold whole numbers; it is the wrong file.")
    return array
