"""A folder of .npy or .parquet files as one table: find the files, and check that they fit together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._io.arrays import map_array
from scarce._io.paths import prefix_errors
from scarce._io.tables import as_names, open_parquet, parquet_header
from scarce._validation import abbreviate
from scarce.errors import FeatureError, FileError
from scarce.features._images import find_images
from scarce.features._tables import find_id_column, parquet_ids, parquet_values
from scarce.features.shards import Shards

_SUFFIXES = (".npy", ".parquet")


@dataclass(frozen=True)
class NpyShard:
    """The rows of a ``.npy`` file, which is memory-mapped."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_mapped = True

    def read(self) -> Array:
        array = map_array(self.path)
        _check_unchanged(self, array)
        return array


@dataclass(frozen=True)
class ParquetShard:
    """The rows of a ``.parquet`` file, which is read whole."""

    path: Path
    n_rows: int
    names: list[str]
    dtype = np.dtype(np.float64)
    is_mapped = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.n_rows, len(self.names)

    def read(self) -> Array:
        with prefix_errors(self.path):
            values = parquet_values(open_parquet(self.path), self.names)
        _check_unchanged(self, values)
        return values


def find_shards(folder: Path) -> list[Path]:
    """Return the ``.npy`` or ``.parquet`` files of a folder, sorted by name; none if it has no such files, or has images.

    Names that begin with ``.`` or ``_`` are ignored; any other file or folder among the shards raises a `FileError`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.npy", "a.npy", "_SUCCESS"):
    ...         Path(folder, name).touch()
    ...     [path.name for path in find_shards(Path(folder))]
    ['a.npy', 'b.npy']
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    except OSError as error:
        raise FileError(
            f"{folder} cannot be read: {error.strerror or error}; check its permissions."
        ) from error
    suffixes = [_suffix(path) for path in paths]
    suffix = next((suffix for suffix in suffixes if suffix in _SUFFIXES), None)
    if suffix is None or find_images(folder):
        return []
    other = next(
        (path for path, other_suffix in zip(paths, suffixes, strict=True) if other_suffix != suffix), None
    )
    if other is not None:
        raise FileError(
            f"{other} is in a folder of {suffix} shards; expected files of one type only: move it elsewhere."
        )
    return paths


def _suffix(path: Path) -> str:
    return path.suffix.lower() if path.is_file() else "folder"


def open_shards(
    paths: Sequence[Path], id_column: str | None = None
) -> tuple[Shards, Array | None, list[str] | None]:
    """Return the concatenated rows of all files, their ids and their column names, reading headers (and ids) only.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("0.npy", "1.npy"):
    ...         np.save(Path(folder, name), np.zeros((2, 3), np.uint8))
    ...     open_shards(find_shards(Path(folder)))[0]
    Shards(4 × 3 uint8 in 2 files)
    """
    if _suffix(paths[0]) == ".parquet":
        return _open_parquet_shards(paths, id_column)
    _check_shard_order(paths)
    shards = []
    for path in paths:
        array = map_array(path)
        shards.append(NpyShard(path, array.shape, array.dtype))
        first = shards[0]
        if array.shape[1:] != first.shape[1:] or array.dtype != first.dtype or array.ndim == 0:
            raise FeatureError(
                f"{path} contains {array.dtype} of shape {array.shape}, and {first.path.name} {first.dtype} of shape "
                f"{first.shape}; expected the same type in all files, and shapes that differ in the "
                "number of rows only: write all files alike."
            )
    return Shards(shards), None, None


def _open_parquet_shards(
    paths: Sequence[Path], id_column: str | None
) -> tuple[Shards, Array | None, list[str] | None]:
    shards: list[ParquetShard] = []
    ids: list[str] = []
    header: list[str] = []
    for path in paths:
        n_rows, columns = parquet_header(path)
        header = header or columns
        missing, extra = set(header) - set(columns), set(columns) - set(header)
        if missing or extra:
            what = [f"lacks {abbreviate(sorted(missing))}"] * bool(missing)
            what += [f"also has {abbreviate(sorted(extra))}"] * bool(extra)
            raise FeatureError(
                f"{path} does not have the columns of {paths[0].name}: it {' and '.join(what)}; "
                "write all shards with the same columns."
            )
        with prefix_errors(path):
            ids_name = find_id_column(header, id_column)
            if ids_name is not None:
                ids += map(str, parquet_ids(open_parquet(path, [ids_name]), ids_name).tolist())
        shards.append(ParquetShard(path, n_rows, [name for name in header if name != ids_name]))
    if ids_name is None:
        _check_shard_order(paths)
    return Shards(shards), None if ids_name is None else as_names(ids), shards[0].names


def _check_shard_order(paths: Sequence[Path]) -> None:
    """Raise a `FileError` if the order of rows without ids is ambiguous: by name, part-10 comes before part-2."""
    naturally_sorted = sorted(paths, key=_natural_key)
    for path, other in zip(paths, naturally_sorted, strict=True):
        if path != other:
            raise FileError(
                f"{path} comes before {other.name} by name, but after it by number, so the order of rows is ambiguous; give all "
                "numbers the same number of digits (part-02, part-10)."
            )


def _natural_key(path: Path) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def _check_unchanged(shard: NpyShard | ParquetShard, array: Array) -> None:
    if (array.shape, array.dtype) != (shard.shape, shard.dtype):
        raise FileError(
            f"{shard.path} has changed while it was in use: it now contains {array.dtype} of shape {array.shape}, "
            f"before {shard.dtype} of shape {shard.shape}; do not change the files, and start again."
        )
