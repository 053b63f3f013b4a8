"""Files that are read with care, and written so that they are either whole or not there."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.errors import FileError, ScarceError

__all__ = [
    "errors_naming",
    "folder_written_aside",
    "is_folder",
    "make_folder",
    "map_array",
    "read_array",
    "read_arrays",
    "require_file",
    "require_folder",
    "require_free_file",
    "require_free_folder",
    "written_aside",
]


def require_file(path: str | Path) -> Path:
    """Return the path of an existing, readable file, or say what is wrong with it.

    Examples
    --------
    >>> require_file("nowhere.csv")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.csv does not exist; check the path.
    """
    path, mode = _look_at(path)
    if stat.S_ISDIR(mode):
        raise FileError(f"{path} is a folder; expected a file.")
    if not os.access(path, os.R_OK):
        raise FileError(f"{path} cannot be read; check its permissions.")
    return path


def require_folder(path: str | Path) -> Path:
    """Return the path of an existing folder, or say what is wrong with it.

    Examples
    --------
    >>> require_folder("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    if not is_folder(path):
        raise FileError(f"{path} is a file; expected a folder.")
    return Path(path)


def make_folder(path: str | Path) -> Path:
    """Return the path of a folder that can be written to, made if it is not there, or say what is wrong with it.

    Examples
    --------
    >>> make_folder("/proc/version")
    Traceback (most recent call last):
    scarce.errors.FileError: /proc/version is a file; expected a folder.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError(f"{path} is a file; expected a folder.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error
    if not os.access(path, os.W_OK):
        raise FileError(f"{path} cannot be written; check its permissions.")
    return path


def require_free_folder(folder: str | Path, marker: str, *, force: bool) -> None:
    """Refuse a place where a folder of ours cannot be written; only one that holds `marker`, or nothing, is replaced.

    Examples
    --------
    >>> require_free_folder(".", "classifier.json", force=True)
    Traceback (most recent call last):
    scarce.errors.FileError: . is no saved classifier and is not replaced; choose another name.
    """
    folder = Path(folder)
    try:
        if folder.exists() and not force:
            raise FileError(
                f"{folder} exists; choose another name, or pass force=True (--force) to replace it."
            )
        is_other = not (folder / marker).exists() and (not folder.is_dir() or any(folder.iterdir()))
        if folder.exists() and (
            is_other or not folder.name
        ):  # the current folder has no name to replace it by
            raise FileError(f"{folder} is no saved classifier and is not replaced; choose another name.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder.parent, prefix=f".{folder.name}."):
            pass
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror or error}.") from error


def is_folder(path: str | Path) -> bool:
    """Tell a folder from a file, or say what is wrong with the path.

    Examples
    --------
    >>> is_folder(Path.cwd())
    True
    """
    return stat.S_ISDIR(_look_at(path)[1])


def _look_at(path: str | Path) -> tuple[Path, int]:
    path = Path(path)
    try:
        return path, path.stat().st_mode
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; check the path.") from None
    except (OSError, ValueError) as error:  # a name too long, a folder that is closed to us, a zero byte
        raise FileError(f"{str(path)!r} cannot be read: {error}; check the path.") from error


@contextmanager
def errors_naming(path: str | Path) -> Iterator[None]:
    """Put the name of the file before the message of any error about what it holds.

    Examples
    --------
    >>> from scarce.errors import LabelError
    >>> with errors_naming("pets.csv"):
    ...     raise LabelError("row 3: no such class.")
    Traceback (most recent call last):
    scarce.errors.LabelError: pets.csv: row 3: no such class.
    """
    try:
        yield
    except FileError:  # names its file already
        raise
    except ScarceError as error:
        raise type(error)(f"{path}: {error}") from None


def read_array(path: str | Path) -> NDArray[Any]:
    """Read the array of an ``.npy`` file, never running code that such a file may hold.

    Examples
    --------
    >>> read_array("nowhere.npy")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.npy does not exist; check the path.
    """
    loaded = _load(path)
    if not isinstance(loaded, np.ndarray):
        raise FileError(f"{path} holds several arrays; give it the ending .npz.")
    return loaded


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read the named arrays of an ``.npz`` file, never running code that such a file may hold.

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
        raise FileError(f"{path} holds one array without a name; give it the ending .npy.")
    return loaded


def map_array(path: str | Path) -> NDArray[Any]:
    """Map the array of an ``.npy`` file into memory: of a large one only what is looked at is read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), [[1, 2], [3, 4]])
    ...     map_array(Path(folder, "x.npy"))[1].tolist()
    [3, 4]
    """
    path = require_file(path)
    with _damage_named(path):
        return np.lib.format.open_memmap(path, mode="r")


def _load(path: str | Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    path = require_file(path)
    with _damage_named(path), path.open("rb") as file:  # numpy leaves a file that it cannot read open
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        return {name: loaded[name] for name in loaded.files}


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # zip, zlib, header and memory errors: damage can show in any of them
        raise FileError(
            f"{path} cannot be read as arrays of numpy: it is damaged, cut short, of another kind, or holds "
            "Python objects; write it again with numpy.save or numpy.savez."
        ) from error


def require_free_file(path: str | Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse early a file that could not be written in the end, or that would replace one of the inputs.

    Examples
    --------
    >>> require_free_file(".", force=True)
    Traceback (most recent call last):
    scarce.errors.FileError: . is a folder; choose the name of a file.
    """
    path = Path(path)
    if any(path.exists() and Path(other).exists() and path.samefile(other) for other in inputs):
        raise FileError(f"{path} is one of the inputs and is not replaced; choose another name.")
    try:
        _refuse_taken(path, force=force)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


def _refuse_taken(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise FileError(f"{path} is a folder; choose the name of a file.")
    if path.exists() and not path.is_file():  # to rename over a device would destroy it
        raise FileError(f"{path} is no ordinary file and is not replaced; choose another name.")
    if path.exists() and not force:
        raise FileError(f"{path} exists; choose another name, or pass force=True (--force) to replace it.")


@contextmanager
def written_aside(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary path beside `path`; when the block ends well it takes the name `path` at once.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written_aside(Path(folder, "a.txt")) as aside:
    ...         _ = aside.write_text("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    path = Path(path)
    try:
        _refuse_taken(path, force=force)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        aside = Path(name)
        try:
            yield aside
            with aside.open("rb") as written:
                os.fsync(written.fileno())
            _allow_as_usual(aside, 0o666)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextmanager
def folder_written_aside(folder: str | Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`; when the block ends well it takes its place, an earlier one goes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     with folder_written_aside(Path(parent, "model")) as aside:
    ...         _ = (aside / "a.txt").write_text("whole")
    ...     [path.name for path in Path(parent, "model").iterdir()]
    ['a.txt']
    """
    folder = Path(folder)
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        earlier = aside.with_name(f"{aside.name}.earlier")
        try:
            yield aside
            _allow_as_usual(aside, 0o777)
            if folder.exists():
                folder.rename(earlier)  # deleted only when the new one stands in its place
            aside.rename(folder)
            shutil.rmtree(earlier, ignore_errors=True)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _allow_as_usual(path: Path, mode: int) -> None:
    """Give a temporary file or folder the permissions that an ordinary one would have."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(mode & ~umask)
