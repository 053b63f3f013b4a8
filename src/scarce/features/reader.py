"""Read features from arrays, tables, idx files, and folders of images or shards."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.arrays import map_array, read_arrays
from scarce._io.idx import is_idx_name, read_idx
from scarce._io.paths import check_file, is_dir, prefix_errors
from scarce.errors import FeatureError, FileError
from scarce.features._embedding_files import read_sidecar
from scarce.features._image_shapes import Size, parse_size
from scarce.features._images import read_images
from scarce.features._shard_files import find_shards, open_shards
from scarce.features._tables import read_csv_features, read_parquet_features
from scarce.features.embedding_info import EmbeddingInfo
from scarce.features.shards import Shards

_FEATURE_NAMES = ("X", "features", "inputs")


@dataclass(frozen=True, eq=False)
class Features:
    """Features of n examples, with the ids of the examples and the names of the columns if the file has them.

    Attributes
    ----------
    values : array or Shards of shape (n, d), (n, height, width) or (n, 3, height, width)
        One row per example: d numbers, or the pixels of a grayscale or RGB image.
    ids : array of shape (n,) or None
        Distinct ids of the examples.
    names : list of str of length d or None
        Names of the columns.
    note : str or None
        What `read_features` did to the images of a folder to give them one shape, as a sentence; the commands print it.
    embedding : EmbeddingInfo or None
        The pretrained model that computed the features, if they are embeddings.

    Raises
    ------
    FeatureError
        If `values` is not numeric or has no rows or columns, or if `ids` does not contain one distinct id per row.

    See Also
    --------
    read_features : Read features from a file or a folder.

    Examples
    --------
    >>> Features(np.zeros((2, 3)), ids=np.array(["p1", "p2"])).values.shape
    (2, 3)
    """

    values: NDArray[Any] | Shards
    ids: NDArray[Any] | None = None
    names: list[str] | None = None
    note: str | None = None
    embedding: EmbeddingInfo | None = None

    def __post_init__(self) -> None:
        if self.values.dtype.kind not in "biuf":
            raise FeatureError(
                f"the features contain {self.values.dtype} values; expected numbers: encode them as numbers."
            )
        if self.values.ndim < 2 or 0 in self.values.shape:
            raise FeatureError(
                f"the features have shape {self.values.shape}; expected n examples × d values, with n and d at least 1: "
                "pass one row per example."
            )
        if self.ids is not None:
            if self.ids.shape != self.values.shape[:1]:
                raise FeatureError(
                    f"the ids have shape {self.ids.shape}, but there are {len(self.values)} examples; pass one id per example."
                )
            names, counts = np.unique(self.ids, return_counts=True)
            if (counts > 1).any():
                rows = np.nonzero(self.ids == names[np.argmax(counts)])[0]
                raise FeatureError(
                    f"the id {names[np.argmax(counts)]} occurs in rows {rows[0]} and {rows[1]}; expected distinct ids: correct one."
                )


def read_features(
    path: str | Path,
    *,
    id_column: str | None = None,
    image_size: str | Size | None = None,
    input_shape: tuple[int, ...] | None = None,
) -> Features:
    r"""Read features from a file, or from a folder of images or shards.

    Data that may be larger than memory stays on disk until its rows are used: ``.npy`` files are memory-mapped, and a folder of
    shards becomes a `Shards` object.

    The images of a folder get one shape. They are turned as their EXIF orientation says; gray images among color images become
    RGB; transparent pixels become white; of an animation the first frame is read. Images of one size of at most 64 × 64 pixels
    keep it, because the networks can use such pixels as they are. All others are scaled, with antialiasing, so that the short
    side fits, and cropped at the center to 32 × 32, the size that the networks for images are made for (if every image has a side
    below 32: to the smallest side). `Features.note` says so.

    Parameters
    ----------
    path : path
        One of

        - ``.npy``: an array with one row per example; the file that ``scarce embed`` writes next to it, ``NAME.npy.json``, holds
          ids and the model;
        - ``.npz``: an array named ``X``, ``features`` or ``inputs`` (or a single array), and optionally ``ids``;
        - ``.csv`` or ``.parquet``: a table with named numeric columns;
        - a file in the idx format of MNIST;
        - a folder of images, whose ids are their relative paths;
        - a folder of ``.npy`` or ``.parquet`` files: the shards of one table, in the order of their names.
    id_column : str, optional
        The column of a table with the ids; by default ``example_id`` or ``id``, if there is one.
    image_size : str or (height, width), optional
        The size of the images of a folder, for example ``"48x64"``: each is scaled to cover it, and cropped at the center.
    input_shape : tuple of int, optional
        `ScarceClassifier.input_shape_` of the classifier that the features are for: the images of a folder get the size and the
        colors of those that it was trained on. Other features are read as they are.

    Returns
    -------
    Features
        The features, with ids and column names if the file has them.

    Raises
    ------
    FileError
        If the file is missing, damaged, or of an unknown type.
    FeatureError
        If its content is not one row of numbers per example, an option does not apply to this type of file, or the images of a
        folder cannot get `input_shape`.

    See Also
    --------
    read_truth : Read true classes.
    scarce.labels.read_labels : Read complementary labels.
    scarce.labels.ComplementaryLabels.align : Bring labels into the order of the features, by id.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.csv").write_text("id,weight,legs\np1,4.5,4\np2,0.1,2\n")
    ...     features = read_features(Path(folder, "pets.csv"))
    >>> features.values.tolist(), features.ids.tolist(), features.names
    ([[4.5, 4.0], [0.1, 2.0]], ['p1', 'p2'], ['weight', 'legs'])

    Photos of different sizes, and how to read others for a classifier that was trained on them, `clf`:

    >>> from PIL import Image
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("RGB", (640, 480)).save(Path(folder, "a.jpg"))
    ...     Image.new("RGB", (300, 400)).save(Path(folder, "b.jpg"))
    ...     photos = read_features(folder)
    ...     others = read_features(folder, input_shape=(3, 32, 32))  # clf.input_shape_
    >>> photos.values.shape, others.values.shape
    ((2, 3, 32, 32), (2, 3, 32, 32))
    >>> print(photos.note)
    the 2 images differ in size (height x width from 400x300 to 480x640); each was scaled so that its short side is 32 pixels ...
    """
    path = Path(path)
    if is_dir(path):
        if shards := find_shards(path):
            return _read_shards(path, shards, id_column, image_size)
        _check_unused(id_column, "id_column", path, "for tables; the ids of images are their paths")
        size = None if image_size is None else parse_size(image_size)
        images, ids, note = read_images(path, size, input_shape)
        return Features(images, ids, note=note)
    path = check_file(path)
    _check_unused(image_size, "image_size", path, "for folders of images")
    with prefix_errors(path):
        if path.suffix.lower() == ".csv":
            return Features(*read_csv_features(path, id_column))
        if path.suffix.lower() == ".parquet":
            return Features(*read_parquet_features(path, id_column))
        _check_unused(id_column, "id_column", path, "for tables")
        return _read_arrays(path)


def _read_shards(folder: Path, shards: list[Path], id_column: str | None, image_size: object) -> Features:
    _check_unused(image_size, "image_size", folder, "for folders of images")
    if shards[0].suffix.lower() == ".npy":
        _check_unused(id_column, "id_column", folder, "for tables")
    opened = open_shards(shards, id_column)
    with prefix_errors(folder):
        return Features(*opened)


def _check_unused(option: object, name: str, path: Path, use: str) -> None:
    if option is not None:
        raise FeatureError(f"{name}={option!r} is {use}; leave it out for {path}.")


def _read_arrays(path: Path) -> Features:
    if is_idx_name(path):
        return Features(read_idx(path))
    if path.suffix.lower() == ".npy":
        array, described = map_array(path), read_sidecar(path)
        if described is None:
            return Features(array)
        return Features(array, described.ids, embedding=described.embedding)
    if path.suffix.lower() != ".npz":
        raise FileError(
            f"{path} ends in {path.suffix or 'nothing'!r}; features are read from .npy, .npz, .csv, .parquet, idx files "
            "and folders of images or shards: convert it to one of these."
        )
    arrays = read_arrays(path)
    ids = arrays.pop("ids", None)
    name = next((name for name in _FEATURE_NAMES if name in arrays), None)
    if name is None and len(arrays) != 1:
        raise FileError(
            f"{path} contains the arrays {', '.join(arrays) or 'none'}; expected one array, or one with the name "
            f"{', '.join(_FEATURE_NAMES[:-1])} or {_FEATURE_NAMES[-1]}: rename the features."
        )
    return Features(arrays[name] if name else next(iter(arrays.values())), ids)
