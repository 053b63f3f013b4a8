"""NumPy files, read without unpickling."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.paths import check_file
from scarce.errors import FileError

__all__ = ["map_array", "read_array", "read_arrays"]


def read_array(path: str | Path) -> NDArray[Any]:
    """Read the array of an ``.npy`` file; nothing is unpickled.

    Examples
    --------
    >>> read_array("nowhere.npy")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.npy does not exist; check the path.
    """
    loaded = _load(path)
    if not isinstance(loaded, np.ndarray):
        raise FileError(f"{path} holds several arrays; rename it to end in .npz.")
    return loaded


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read the named arrays of an ``.npz`` file; nothing is unpickled.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "two.npz"), a=[1, 2], b=[3.0])
    ...     {name: array.tolist() for name, array in read_arrays(Path(folder, "two.npz")).items()}
    {'a': [1, 2], 'b': [3.0]}
    """
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        raise FileError(f"{path} holds one array without a name; rename it to end in .npy.")
    return loaded


def map_array(path: str | Path) -> NDArray[Any]:
    """Map the array of an ``.npy`` file into memory, which reads only the rows that are used.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), [[1, 2], [3, 4]])
    ...     map_array(Path(folder, "x.npy"))[1].tolist()
    [3, 4]
    """
    path = check_file(path)
    with _translate_errors(path):
        return np.lib.format.open_memmap(path, mode="r")


def _load(path: str | Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    path = check_file(path)
    with _translate_errors(path), path.open("rb") as file:  # numpy does not close a file that it cannot read
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        return {name: loaded[name] for name in loaded.files}


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # damage can raise zip, zlib, header and memory errors
        raise FileError(
            f"{path} cannot be read as NumPy arrays: it is damaged, truncated, of another format, or holds "
            "Python objects; write it again with numpy.save or numpy.savez."
        ) from error
