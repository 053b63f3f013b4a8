"""Files that are either whole or not there: written aside, then renamed."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scarce.errors import FileError

__all__ = ["require_file", "written_aside"]


def require_file(path: str | Path) -> Path:
    """Return the path of an existing, readable file, or say what is wrong with it.

    Examples
    --------
    >>> require_file("nowhere.csv")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.csv does not exist; check the path.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path} does not exist; check the path.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; expected a file.")
    if not os.access(path, os.R_OK):
        raise FileError(f"{path} cannot be read; check its permissions.")
    return path


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
    if path.exists() and not force:
        raise FileError(f"{path} exists; choose another name, or pass force=True (--force) to replace it.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; choose the name of a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}.") from error
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        with aside.open("rb") as written:
            os.fsync(written.fileno())
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
