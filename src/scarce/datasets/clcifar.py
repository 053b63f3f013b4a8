"""CLCIFAR-10 and CLCIFAR-20: what three people said each training image of CIFAR is not.

Published by Wang et al. (CLImage) as a pickle of a dict: ``images`` (32 × 32 × 3 each), ``ord_labels`` (the true
classes), ``cl_labels`` (three per image) and ``names``. It is converted once, and the copy without pickle kept.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._hashing import bytes_digest
from scarce._io.arrays import read_arrays
from scarce._io.atomic import atomic_write
from scarce.datasets._files import LocatedFiles, cache_folder
from scarce.datasets._unpickle import unpickle
from scarce.datasets.cifar import cifar10_test, cifar20_test, integers, read_cifar10
from scarce.datasets.image_dataset import SplitArrays
from scarce.errors import FileError
from scarce.simulate import human, human_counts

__all__ = ["read_clcifar10", "read_clcifar20", "read_human_cifar10"]

_PEOPLE = 3


def read_clcifar10(published: LocatedFiles, cifar10: LocatedFiles) -> SplitArrays:
    """Return the images and annotations of CLCIFAR-10, and the test images of CIFAR-10."""
    return _parts(published, cifar10_test(cifar10), "clcifar10")


def read_clcifar20(published: LocatedFiles, cifar100: LocatedFiles) -> SplitArrays:
    """Return the images and annotations of CLCIFAR-20, and the test images of CIFAR-100 in its classes."""
    return _parts(published, cifar20_test(cifar100), "clcifar20")


def _parts(published: LocatedFiles, test: tuple[Any, Any], source: str) -> SplitArrays:
    (name,) = published.paths
    arrays = _converted(published.read(name), published.paths[name])
    classes = tuple(human_counts(source).classes.tolist())
    return SplitArrays(arrays["images"], arrays["truth"], *test, classes, arrays["annotations"])


def _converted(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    copy = cache_folder() / "converted" / f"{bytes_digest([data])}.npz"
    try:
        return read_arrays(copy)
    except FileError:  # none yet
        arrays = _arrays(unpickle(data, path), path)
    try:
        with atomic_write(copy, force=True) as temporary:
            np.savez(temporary, **arrays)  # type: ignore[arg-type]
    except FileError:  # a cache that cannot be written costs time at the next call, and nothing else
        pass
    return arrays


def _arrays(content: dict[str, Any], path: Path) -> dict[str, NDArray[Any]]:
    images = integers(content, "images", path)
    truth, annotations = (integers(content, key, path) for key in ("ord_labels", "cl_labels"))
    n = len(images)
    if (
        images.dtype != np.uint8
        or images.shape != (n, 32, 32, 3)
        or truth.shape != (n,)
        or annotations.shape != (n, 3)
    ):
        raise FileError(
            f"{path} holds images of shape {images.shape} ({images.dtype}), true classes of shape {truth.shape} and "
            f"labels of shape {annotations.shape}; expected n × 32 × 32 × 3 (uint8), n and n × 3: it is another file."
        )
    return {
        "images": np.ascontiguousarray(images.transpose(0, 3, 1, 2)),
        "truth": truth.astype(np.int64),
        "annotations": annotations.astype(np.int64),
    }


def read_human_cifar10(found: LocatedFiles) -> SplitArrays:
    """Return CIFAR-10 with three draws per training image from the human matrix; always the same ones."""
    parts = read_cifar10(found)
    said = [human(parts.y_train, source="clcifar10", draws=1, seed=seed).indices for seed in range(_PEOPLE)]
    return parts._replace(annotations=np.stack(said, axis=1).astype(np.int64))
