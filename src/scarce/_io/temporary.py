"""Temporary files and folders next to what is written, and those that killed processes left behind.

The process that writes a temporary file or folder holds a lock on it, which ends with the process. So a process can delete
what others left behind, even while some still write to the same path. Without file locks, as on Windows, nothing is deleted.
"""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # as on Windows
    fcntl = None  # type: ignore[assignment]

_MARK = "scarce-"  # so that a user's hidden file is never taken for a leftover
_RANDOM_PART = "?" * 8  # of the names that tempfile chooses


@contextmanager
def temporary_beside(path: Path, *, is_dir: bool = False) -> Iterator[Path]:
    """Yield an empty, hidden file or folder next to `path`, and delete it afterwards if it is still there.

    What killed processes left behind next to `path` is deleted first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with temporary_beside(Path(folder, "a.txt")) as temporary:
    ...         temporary.parent == Path(folder), temporary.suffix
    ...     list(Path(folder).iterdir())
    (True, '.txt')
    []
    """
    clean_leftovers(path, is_dir=is_dir)
    temporary, lock = _make_locked(path, is_dir)
    try:
        yield temporary
    finally:
        delete(temporary)
        if lock is not None:
            os.close(lock)


def clean_leftovers(path: str | Path, *, is_dir: bool = False) -> None:
    """Delete the temporary files or folders that killed processes left behind when they wrote `path`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, ".a.txt.scarce-x1y2z3_0.txt").write_text("half")
    ...     clean_leftovers(Path(folder, "a.txt"))
    ...     list(Path(folder).iterdir())
    []
    """
    path = Path(path)
    suffix = "" if is_dir else path.suffix
    for leftover in path.parent.glob(f"{glob.escape(_prefix(path))}{_RANDOM_PART}{glob.escape(suffix)}"):
        lock = _try_lock(leftover)
        if lock is not None:
            delete(leftover)
            os.close(lock)


def earlier_name(temporary: Path) -> Path:
    """Return the name for the folder that a temporary one replaces, if the two cannot be swapped in one step."""
    return temporary.with_name(f"{temporary.name}.earlier")


def find_dir(folder: Path) -> Path:
    """Return the folder, or the earlier one if a process was killed between setting it aside and renaming the new one.

    Examples
    --------
    >>> find_dir(Path("nowhere")).name
    'nowhere'
    """
    if os.path.lexists(folder):
        return folder
    return next(iter(_find_earlier(folder)), folder)


def restore_dir(folder: Path) -> None:
    """Rename a folder that `find_dir` finds under another name back to its own name."""
    found = find_dir(folder)
    if found != folder:
        found.rename(folder)


def delete_earlier(folder: Path) -> None:
    """Delete the folders that `folder` has replaced, and that killed processes left behind."""
    for earlier in _find_earlier(folder):
        delete(earlier)


def delete(path: Path) -> None:
    """Delete a file, or a folder with all its files, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _find_earlier(folder: Path) -> list[Path]:
    """Return the folders that have been set aside under `earlier_name`, the latest first."""
    found = folder.parent.glob(f"{glob.escape(_prefix(folder))}{_RANDOM_PART}.earlier")
    return sorted(found, key=lambda path: path.stat().st_ctime_ns, reverse=True)


def _prefix(path: Path) -> str:
    return f".{path.name}.{_MARK}"


def _make_locked(path: Path, is_dir: bool) -> tuple[Path, int | None]:
    """Make a temporary file or folder and lock it, before another process takes it for a leftover and deletes it."""
    while True:
        if is_dir:
            name = tempfile.mkdtemp(prefix=_prefix(path), dir=path.parent)
        else:
            handle, name = tempfile.mkstemp(prefix=_prefix(path), suffix=path.suffix, dir=path.parent)
            os.close(handle)
        if fcntl is None:
            return Path(name), None
        with suppress(FileNotFoundError):
            lock = os.open(name, os.O_RDONLY)
            with suppress(OSError):  # of a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            if Path(name).exists():
                return Path(name), lock
            os.close(lock)


def _try_lock(path: Path) -> int | None:
    """Return a file descriptor that holds the lock, or None if another process may hold it or there are no locks."""
    if fcntl is None:
        return None
    try:
        lock = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
