"""NumPy files, read without unpickling."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from scarce._io.paths import check_file
from scarce._limits import check_bytes
from scarce.errors import FileError

_ZIP_MAGIC = b"PK"
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


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
    with _translate_errors(path), path.open("rb") as file:
        _check_length(file, path, path.stat().st_size)
        return np.lib.format.open_memmap(path, mode="r")


def _load(path: str | Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    path = check_file(path)
    with _translate_errors(path), path.open("rb") as file:  # numpy does not close a file that it cannot read
        _check_sizes(file, path)
        file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        return {name: _check_is_array(loaded[name]) for name in loaded.files}


def _check_sizes(file: IO[bytes], path: Path) -> None:
    """Check the sizes that the headers of a file declare, before memory is taken for its arrays."""
    n_bytes = path.stat().st_size
    if file.read(2) != _ZIP_MAGIC:
        check_bytes(n_bytes, path, "write fewer rows")
        file.seek(0)
        _check_length(file, path, n_bytes)
        return
    with ZipFile(file) as archive:
        members = archive.infolist()
        check_bytes(sum(member.file_size for member in members), path, "save its arrays as .npy files")
        for member in members:
            with archive.open(member) as content:
                _check_length(content, path, member.file_size)


def _check_length(file: IO[bytes], path: Path, n_bytes: int) -> None:
    """Raise unless as many bytes follow the header of an array as it declares; `n_bytes` is the length with the header."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER_READERS:
        raise ValueError(f"the header has the version {version}")
    shape, _, dtype = _HEADER_READERS[version](file)
    if dtype.hasobject:
        raise ValueError("the array holds Python objects")
    declared = math.prod(shape) * max(dtype.itemsize, 1)
    n_found = n_bytes - file.tell()
    if n_found != declared:
        fault = "truncated" if n_found < declared else "too long"
        sizes = " × ".join(map(str, shape)) or "1"
        raise FileError(
            f"{path} cannot be read as NumPy arrays: it is {fault}: a header declares {sizes} values of type {dtype}, "
            f"{declared} bytes, but {n_found} follow; write it again with numpy.save or numpy.savez."
        )


def _check_is_array(member: Any) -> NDArray[Any]:
    if not isinstance(member, np.ndarray):
        raise TypeError("a member of the archive is not an array")
    return member


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(
            f"{path} does not fit into memory; save its arrays as .npy files, or write fewer rows."
        ) from error
    except Exception as error:  # damage can raise zip, zlib and header errors
        raise FileError(
            f"{path} cannot be read as NumPy arrays: it is damaged, truncated, of another format, or holds "
            "Python objects; write it again with numpy.save or numpy.savez."
        ) from error
