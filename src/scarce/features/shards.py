"""Arrays that stay on disk in one or more files and are read a few rows at a time."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import IntArray, row_indices
from scarce.errors import FeatureError

_MAX_OPEN_FILES = 128  # memory-mapped files


class Shard(Protocol):
    """The rows of one file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array, rows first."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""

    @property
    def is_mapped(self) -> bool:
        """Whether single rows can be read without reading the whole file."""

    def read(self) -> NDArray[Any]:
        """Return all rows, memory-mapped or read."""


class ArrayShard:
    """An array that is already in memory or memory-mapped."""

    is_mapped = True

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def read(self) -> NDArray[Any]:
        """Return the array."""
        return self.array


class Shards:
    """A read-only array whose rows are spread over several files; only the rows you take are read into memory.

    Indexing selects rows and columns without reading them; `take` reads. Memory-mapped files are read row by row. Other files are
    read whole and kept in memory one at a time, so take the rows of a file together; `blocks` says how many rows each file has.

    Parameters
    ----------
    shards : sequence of Shard
        The files, in order, with equal types and equal shapes of a row.

    Attributes
    ----------
    shape : tuple of int
        Shape of the whole array: (n, ...).
    dtype : numpy.dtype
        Type of the numbers.
    ndim : int
        Number of dimensions.
    blocks : tuple of int
        Numbers of consecutive rows that come from the same file; a single block if all files are memory-mapped.

    See Also
    --------
    read_features : Read a folder of shards.

    Examples
    --------
    >>> shards = Shards([ArrayShard(np.zeros((2, 3))), ArrayShard(np.ones((4, 3)))])
    >>> shards
    Shards(6 × 3 float64 in 2 files)
    >>> shards.take([5, 0]).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    >>> shards[1:][:, [0, 1]].shape
    (5, 2)
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self._ends = np.cumsum([shard.shape[0] for shard in shards])
        self._max_open = _MAX_OPEN_FILES if shards[0].is_mapped else 1
        self._open: dict[int, NDArray[Any]] = {}  # shared with the views
        self._rows: IntArray | None = None
        self._columns: IntArray | None = None
        self.dtype = shards[0].dtype
        self.shape: tuple[int, ...] = (int(self._ends[-1]), *shards[0].shape[1:])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Numbers of consecutive rows that come from the same file and should be taken together."""
        if self._shards[0].is_mapped:
            return (len(self),)
        files = self._file_numbers(self._file_rows(np.arange(len(self))))
        changes = np.flatnonzero(np.diff(files)) + 1
        return tuple(np.diff([0, *changes, len(self)]).tolist())

    def take(self, rows: Any) -> NDArray[Any]:
        """Read rows into memory.

        Parameters
        ----------
        rows : array of int, mask or slice
            The m rows, in the order wanted; repeats are allowed.

        Returns
        -------
        array of shape (m, ...)
            The rows.
        """
        file_rows = self._file_rows(row_indices(rows, len(self)))
        files = self._file_numbers(file_rows)
        taken = np.empty((len(file_rows), *self.shape[1:]), self.dtype)
        for file in dict.fromkeys(
            files.tolist()
        ):  # in order of appearance: the last file stays open for the next call
            is_in_file = files == file
            found = self._open_file(file)[
                file_rows[is_in_file] - (self._ends[file] - self._shards[file].shape[0])
            ]
            taken[is_in_file] = found if self._columns is None else found[:, self._columns]
        return taken

    def _file_rows(self, rows: IntArray) -> IntArray:
        return rows if self._rows is None else self._rows[rows]

    def _file_numbers(self, file_rows: IntArray) -> IntArray:
        return np.searchsorted(self._ends, file_rows, side="right")

    def _open_file(self, file: int) -> NDArray[Any]:
        array = self._open.pop(file, None)
        if array is None:
            while len(self._open) >= self._max_open:  # frees memory before the next file is read
                del self._open[next(iter(self._open))]
            array = self._shards[file].read()
        self._open[file] = array  # most recently used last, so the first is the least recently used
        return array

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        """Return a view of some rows, or with ``[:, columns]`` of some columns, without reading them."""
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, Ellipsis)
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        if not isinstance(rows, slice) or rows != slice(None):
            view._rows = self._file_rows(row_indices(rows, len(self)))
            view.shape = (len(view._rows), *self.shape[1:])
        if columns is not Ellipsis:  # scikit-learn indexes as [rows, ...]
            chosen = row_indices(columns, self.shape[1])
            view._columns = chosen if self._columns is None else self._columns[chosen]
            view.shape = (view.shape[0], len(chosen), *self.shape[2:])
        return view

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise FeatureError(
            f"{self!r} stays on disk and is not converted to one array; use a method that trains a network, or read some rows "
            "with take(rows)."
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_open": {}}  # else pickle would copy the mapped files

    def __repr__(self) -> str:
        shape = " × ".join(f"{side:,}" for side in self.shape)
        return f"Shards({shape} {self.dtype} in {len(self._shards):,} files)"
