"""Image data sets in memory: images, true classes, and complementary labels by human annotators."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._hashing import array_checksum
from scarce._validation import check_option
from scarce.labels import ComplementaryLabels

Annotation = Literal[0, 1, 2, "union"]


class SplitArrays(NamedTuple):
    """The content of the files of a data set; `y` and `annotations` are indices into `classes`."""

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]
    classes: tuple[str, ...]
    annotations: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ImageDataset:
    """A data set of images in memory.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X_train, X_test : array of uint8, shape (n, height, width) or (n, 3, height, width)
        The images.
    y_train, y_test : array of int, shape (n,)
        The true classes, 0 to q − 1.
    classes : tuple of str
        The names of the q classes.
    labels : ComplementaryLabels or None
        The complementary labels of the training images (classes 0 to q − 1), if human annotators gave any.
    annotations : array of int, shape (n, 3), or None
        The label of each of three annotators, with repeats and mistakes.

    See Also
    --------
    load_dataset : Load a data set by name.
    TableDataset : A table or texts.

    Examples
    --------
    >>> X, y = np.zeros((2, 8, 8), np.uint8), np.array([0, 1])
    >>> ImageDataset("squares", X, y, X, y, ("small", "large"))
    ImageDataset('squares', 2 + 2 images of 8 × 8, 2 classes)
    """

    name: str
    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]
    classes: tuple[str, ...]
    labels: ComplementaryLabels | None = None
    annotations: NDArray[np.int64] | None = None

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of the arrays, the class names and the labels, which identifies the training and test data."""
        arrays = [self.X_train, self.y_train, self.X_test, self.y_test, np.array(self.classes)]
        if self.labels is not None:
            arrays += [self.labels.indptr, self.labels.indices]
        return array_checksum(arrays)

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.X_train.shape[1:]))
        return (
            f"ImageDataset({self.name!r}, {len(self.X_train):,} + {len(self.X_test):,} images of {shape}, "
            f"{len(self.classes)} classes)"
        )


def labels_from_annotations(
    annotations: NDArray[np.int64], n_classes: int, annotation: Annotation
) -> ComplementaryLabels:
    """Return the labels of one annotator, or the union of all; `annotations` has the shape (n, 3).

    Examples
    --------
    >>> said = np.array([[2, 0, 2], [1, 1, 1]])
    >>> labels_from_annotations(said, 3, "union").indicator(dtype=int).tolist()
    [[1, 0, 1], [0, 1, 0]]
    >>> labels_from_annotations(said, 3, 1).indices.tolist()
    [0, 1]
    """
    if annotation == "union":
        return ComplementaryLabels.from_columns(annotations, n_classes)
    check_option("annotation", annotation, (0, 1, 2, "union"))
    return ComplementaryLabels.from_single(annotations[:, int(annotation)], n_classes)
