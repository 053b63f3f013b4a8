"""CLCIFAR-10 and CLCIFAR-20: CIFAR with three complementary labels per training image, from human annotators.

Published by Wang et al. (CLImage) as a pickled dict: ``images`` (32 × 32 × 3 each), ``ord_labels`` (the true classes),
``cl_labels`` (three per image) and ``names``. It is converted once to a copy without pickle in the cache.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._hashing import bytes_digest
from scarce._io.arrays import read_arrays
from scarce._io.atomic import atomic_write
from scarce.datasets._cifar import (
    CIFAR10_CLASSES,
    CIFAR20_CLASSES,
    read_cifar10,
    read_cifar10_split,
    read_cifar20_split,
    to_integers,
)
from scarce.datasets._files import LocatedFiles, cache_dir
from scarce.datasets._unpickle import unpickle
from scarce.datasets.image_dataset import SplitArrays
from scarce.errors import FileError
from scarce.simulate import human

_N_ANNOTATORS = 3


def read_clcifar10(published: LocatedFiles, cifar10: LocatedFiles) -> SplitArrays:
    """Return the images and annotations of CLCIFAR-10, and the test images of CIFAR-10."""
    return _split_arrays(published, read_cifar10_split(cifar10, "test"), CIFAR10_CLASSES)


def read_clcifar20(published: LocatedFiles, cifar100: LocatedFiles) -> SplitArrays:
    """Return the images and annotations of CLCIFAR-20, and the test images of CIFAR-100 with its classes."""
    return _split_arrays(published, read_cifar20_split(cifar100, "test"), CIFAR20_CLASSES)


def _split_arrays(published: LocatedFiles, test: tuple[Any, Any], classes: tuple[str, ...]) -> SplitArrays:
    (name,) = published.paths
    arrays = _read_converted(published.read(name), published.paths[name])
    return SplitArrays(arrays["images"], arrays["truth"], *test, classes, arrays["annotations"])


def _read_converted(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    copy = cache_dir() / "converted" / f"{bytes_digest([data])}.npz"
    try:
        return read_arrays(copy)
    except FileError:  # not converted yet
        arrays = _to_arrays(unpickle(data, path), path)
    try:
        with atomic_write(copy, force=True) as temporary:
            np.savez(temporary, **arrays)  # type: ignore[arg-type]
    except FileError:  # without a writable cache, the next call converts again
        pass
    return arrays


def _to_arrays(content: dict[str, Any], path: Path) -> dict[str, NDArray[Any]]:
    images = to_integers(content, "images", path)
    truth, annotations = (to_integers(content, key, path) for key in ("ord_labels", "cl_labels"))
    n = len(images)
    if (
        images.dtype != np.uint8
        or images.shape != (n, 32, 32, 3)
        or truth.shape != (n,)
        or annotations.shape != (n, 3)
    ):
        raise FileError(
            f"{path} holds images of shape {images.shape} ({images.dtype}), true classes of shape {truth.shape} and "
            f"labels of shape {annotations.shape}; expected n × 32 × 32 × 3 (uint8), n and n × 3: it is the wrong file."
        )
    return {
        "images": np.ascontiguousarray(images.transpose(0, 3, 1, 2)),
        "truth": truth.astype(np.int64),
        "annotations": annotations.astype(np.int64),
    }


def read_human_cifar10(found: LocatedFiles) -> SplitArrays:
    """Return CIFAR-10 with three labels per training image, drawn with fixed seeds from the transition matrix of CLCIFAR-10."""
    arrays = read_cifar10(found)
    annotations = [
        human(arrays.y_train, source="clcifar10", draws=1, seed=seed).indices for seed in range(_N_ANNOTATORS)
    ]
    return arrays._replace(annotations=np.stack(annotations, axis=1).astype(np.int64))
