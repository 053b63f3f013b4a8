"""Checks of paths, with errors that name the path and the fix."""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scarce._io.temporary import restore_dir, temporary_beside
from scarce.errors import FileError, ScarceError


def check_file(path: str | Path) -> Path:
    """Return the path if it is an existing, readable file and not a pipe, device or socket, else raise `FileError`.

    Reading a pipe may wait forever, and a device may never end.

    Examples
    --------
    >>> check_file("nowhere.csv")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.csv does not exist; check the path.
    """
    path, mode = _stat(path)
    if stat.S_ISDIR(mode):
        raise FileError(f"{path} is a folder; expected a file.")
    if not stat.S_ISREG(mode):
        raise FileError(
            f"{path} is a pipe, a device or a socket; expected an ordinary file: write its content to one."
        )
    if not os.access(path, os.R_OK):
        raise FileError(f"{path} cannot be read; check its permissions.")
    return path


def check_dir(path: str | Path) -> Path:
    """Return the path if it is an existing folder, else raise `FileError`.

    Examples
    --------
    >>> check_dir("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    if not is_dir(path):
        raise FileError(f"{path} is a file; expected a folder.")
    return Path(path)


def make_dir(path: str | Path) -> Path:
    """Return the path of a writable folder, created if it does not exist, or raise `FileError`.

    Examples
    --------
    >>> make_dir("/proc/version")
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


def check_writable_dir(folder: str | Path, marker: str, *, force: bool) -> None:
    """Raise `FileError` unless a folder can be written there; only an empty one or one with the file `marker` is replaced.

    Examples
    --------
    >>> check_writable_dir(".", "classifier.json", force=True)
    Traceback (most recent call last):
    scarce.errors.FileError: . is not a saved classifier and will not be replaced; choose another name.
    """
    folder = Path(folder)
    try:
        if folder.is_symlink():
            raise FileError(
                f"{folder} is a link to {folder.readlink()}; expected a folder: pass its own path."
            )
        restore_dir(folder)
        if folder.exists() and not force:
            raise FileError(
                f"{folder} exists; choose another name, or pass force=True (--force) to replace it."
            )
        is_foreign = not (folder / marker).exists() and (not folder.is_dir() or any(folder.iterdir()))
        # "." has no name that a new folder could be renamed to.
        if folder.exists() and (is_foreign or not folder.name):
            raise FileError(
                f"{folder} is not a saved classifier and will not be replaced; choose another name."
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_beside(folder, is_dir=True):
            pass
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror or error}.") from error


def is_dir(path: str | Path) -> bool:
    """Return whether the path is a folder, or raise `FileError` if it does not exist.

    Examples
    --------
    >>> is_dir(Path.cwd())
    True
    """
    return stat.S_ISDIR(_stat(path)[1])


def _stat(path: str | Path) -> tuple[Path, int]:
    path = Path(path)
    try:
        return path, path.stat().st_mode
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; check the path.") from None
    except (OSError, ValueError) as error:  # a name that is too long or has a null byte, or no permission
        raise FileError(f"{str(path)!r} cannot be read: {error}; check the path.") from error


@contextmanager
def prefix_errors(path: str | Path) -> Iterator[None]:
    """Prefix the message of an error about the content of a file with its path.

    Examples
    --------
    >>> from scarce.errors import LabelError
    >>> with prefix_errors("pets.csv"):
    ...     raise LabelError("row 3: no such class.")
    Traceback (most recent call last):
    scarce.errors.LabelError: pets.csv: row 3: no such class.
    """
    try:
        yield
    except FileError:  # already names its file
        raise
    except ScarceError as error:
        raise type(error)(f"{path}: {error}") from None


def check_writable(path: str | Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Raise `FileError` unless a file can be written there without replacing one of the inputs.

    Examples
    --------
    >>> check_writable(".", force=True)
    Traceback (most recent call last):
    scarce.errors.FileError: . is a folder; choose the name of a file.
    """
    path = Path(path)
    if any(path.exists() and Path(source).exists() and path.samefile(source) for source in inputs):
        raise FileError(f"{path} is one of the inputs and will not be replaced; choose another name.")
    try:
        check_overwrite(path, force=force)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_overwrite(path: Path, *, force: bool) -> None:
    """Raise `FileError` if the path is a folder or a device, or an existing file without `force`."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; choose the name of a file.")
    if path.exists() and not path.is_file():  # renaming over a device would destroy it
        raise FileError(f"{path} is not an ordinary file and will not be replaced; choose another name.")
    if path.exists() and not force:
        raise FileError(f"{path} exists; choose another name, or pass force=True (--force) to replace it.")
