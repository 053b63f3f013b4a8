"""Features from files: arrays, tables, idx files, and folders of images or of shards."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.arrays import map_array, read_arrays
from scarce._io.idx import is_idx_name, read_idx
from scarce._io.paths import check_file, is_dir, prefix_errors
from scarce.errors import FeatureError, FileError
from scarce.features._shard_files import find_shards, open_shards
from scarce.features.images import Size, parse_size, read_images
from scarce.features.shards import Shards
from scarce.features.tables import read_csv_features, read_parquet_features

__all__ = ["Features", "read_features"]

_FEATURE_NAMES = ("X", "features", "inputs")


@dataclass(frozen=True, eq=False)
class Features:
    """The inputs of n examples, and what is known of their names.

    Attributes
    ----------
    values : array or Shards
        One row per example: n × d numbers, or n × height × width or n × 3 × height × width pixels.
    ids : array or None
        The names of the examples.
    names : list of str or None
        The names of the d columns.
    """

    values: NDArray[Any] | Shards
    ids: NDArray[Any] | None = None
    names: list[str] | None = None

    def __post_init__(self) -> None:
        if self.values.dtype.kind not in "biuf":
            raise FeatureError(f"the features hold {self.values.dtype} values; expected numbers.")
        if self.values.ndim < 2 or 0 in self.values.shape:
            raise FeatureError(
                f"the features have shape {self.values.shape}; expected n examples × d values, with n and d at least 1."
            )
        if self.ids is not None:
            if self.ids.shape != self.values.shape[:1]:
                raise FeatureError(
                    f"the ids have shape {self.ids.shape}, but there are {len(self.values)} examples; one each is needed."
                )
            names, counts = np.unique(self.ids, return_counts=True)
            if (counts > 1).any():
                rows = np.nonzero(self.ids == names[np.argmax(counts)])[0]
                raise FeatureError(
                    f"the id {names[np.argmax(counts)]} stands at rows {rows[0]} and {rows[1]}; ids must be distinct."
                )


def read_features(
    path: str | Path, *, id_column: str | None = None, image_size: str | Size | None = None
) -> Features:
    r"""Read features from a file, or from a folder of images or of shards.

    What may be larger than memory stays on disk until rows are asked for: ``.npy`` files are mapped into memory, and a
    folder of shards gives `scarce.features.Shards`.

    Parameters
    ----------
    path : path
        ``.npy``; ``.npz`` with the array ``X``, ``features`` or ``inputs`` (or only one) and perhaps ``ids``;
        ``.csv`` or ``.parquet`` with named columns of numbers; a file in the idx format of MNIST; a folder
        of images, whose ids are their paths in it; or a folder of ``.npy`` or of ``.parquet`` files, the shards of
        one table in the order of their names.
    id_column : str, optional
        The column of a table that holds the ids; by default ``example_id`` or ``id`` if there is one.
    image_size : str or (height, width), optional
        Resize the images of a folder to this size, such as ``"32x32"``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.csv").write_text("id,weight,legs\np1,4.5,4\np2,0.1,2\n")
    ...     features = read_features(Path(folder, "pets.csv"))
    >>> features.values.tolist(), features.ids.tolist(), features.names
    ([[4.5, 4.0], [0.1, 2.0]], ['p1', 'p2'], ['weight', 'legs'])
    """
    path = Path(path)
    if is_dir(path):
        if shards := find_shards(path):
            return _read_shards(path, shards, id_column, image_size)
        _check_unused(id_column, "id_column", path, "for tables; the ids of images are their paths")
        return Features(*read_images(path, None if image_size is None else parse_size(image_size)))
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
        return Features(map_array(path))
    if path.suffix.lower() != ".npz":
        raise FileError(
            f"{path} ends in {path.suffix or 'nothing'!r}; features are read from .npy, .npz, .csv, .parquet, idx files "
            "and folders of images or shards."
        )
    arrays = read_arrays(path)
    ids = arrays.pop("ids", None)
    name = next((name for name in _FEATURE_NAMES if name in arrays), None)
    if name is None and len(arrays) != 1:
        raise FileError(
            f"{path} holds the arrays {', '.join(arrays) or 'none'}; name the features one of {', '.join(_FEATURE_NAMES)}."
        )
    return Features(arrays[name] if name else next(iter(arrays.values())), ids)
