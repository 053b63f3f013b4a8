"""Compute the rows of an array batch by batch, in a file that another process can complete after an interruption."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.atomic import atomic_write
from scarce.errors import FileError

_FORMAT = "scarce-partial-embeddings-1"

EmbedRows = Callable[[NDArray[np.int64]], NDArray[np.float32]]
Progress = Callable[[int], None]


class PartialArray:
    """The rows that are done, in ``NAME.npy.partial``, and their number, in ``NAME.npy.partial.json``.

    Parameters
    ----------
    out : path
        The array to write at the end.
    key : str
        A digest of all that determines the rows; a partial file with another key is not resumed.
    n : int
        The number of rows.
    """

    def __init__(self, out: Path, key: str, n: int) -> None:
        self.path = out.with_name(f"{out.name}.partial")
        self._progress = out.with_name(f"{out.name}.partial.json")
        self._key, self._n = key, n
        self.array: NDArray[np.float32] | None = None
        self.n_done = self._read_progress()

    def _read_progress(self) -> int:
        """Return how many rows an earlier process has finished, and open its file; 0 if it cannot be resumed."""
        try:
            record = json.loads(self._progress.read_text(encoding="utf-8"))
            n_done = record["n_done"]
            if record["format"] != _FORMAT or record["key"] != self._key or type(n_done) is not int:
                return 0
            array = np.lib.format.open_memmap(self.path, mode="r+")
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        if array.ndim != 2 or len(array) != self._n or array.dtype != np.float32 or not 0 < n_done <= self._n:
            return 0
        self.array = array
        return n_done

    def write(self, rows: NDArray[np.int64], values: NDArray[np.float32]) -> None:
        """Store the next rows, and then how many are done."""
        with _translate_errors(self.path):
            if self.array is None:
                self._create(values.shape[1])
            assert self.array is not None
            self.array[rows] = values
            self.array.flush()  # type: ignore[attr-defined]
        self.n_done += len(rows)
        record = {"format": _FORMAT, "key": self._key, "n_done": self.n_done, "n": self._n}
        with atomic_write(self._progress, force=True) as temporary:
            temporary.write_text(json.dumps(record), encoding="utf-8")

    def _create(self, width: int) -> None:
        self.delete()
        self.array = np.lib.format.open_memmap(self.path, mode="w+", dtype=np.float32, shape=(self._n, width))
        if hasattr(os, "posix_fallocate"):  # else writing to a full disk would kill the process
            with self.path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, self.path.stat().st_size)

    def finish(self, out: Path) -> None:
        """Rename the complete array to `out`."""
        assert self.array is not None
        self.array = None  # closes the file
        with _translate_errors(out):
            self.path.replace(out)
            self._progress.unlink(missing_ok=True)

    def delete(self) -> None:
        """Delete both files, if they exist."""
        self._progress.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def run_batches(
    order: NDArray[np.int64],
    batch_size: int,
    embed: EmbedRows,
    partial: PartialArray | None,
    report: Progress,
) -> NDArray[np.float32]:
    """Return the rows of all examples, computed in this order; with `partial`, only those that are not done.

    Batches are the same whether or not some are done, so that an interrupted and resumed array has the same bytes.

    Examples
    --------
    >>> run_batches(np.array([2, 0, 1]), 2, lambda rows: rows[:, None].astype(np.float32), None, lambda n: None).tolist()
    [[0.0], [1.0], [2.0]]
    """
    n = len(order)
    n_done = 0 if partial is None else partial.n_done
    values = None if partial is None else partial.array
    report(n_done)
    for start in range(n_done, n, batch_size):
        rows = order[start : start + batch_size]
        found = embed(rows)
        if partial is not None:
            partial.write(rows, found)
            values = partial.array
        else:
            values = np.empty((n, found.shape[1]), np.float32) if values is None else values
            values[rows] = found
        report(len(rows))
    assert values is not None
    return values


def sorted_by_length(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the order of texts by length, in which batches need little padding."""
    return np.argsort([len(text) for text in texts], kind="stable").astype(np.int64)


@contextmanager
def _translate_errors(path: Path) -> Iterator[Any]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error
