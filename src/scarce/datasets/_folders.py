"""Folders that are removed again if they stay empty, and that one process at a time may write to."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # as on Windows: there two processes must not fetch at once
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked_dir", "created_dir"]

_LOCK_NAME = ".fetching"


@contextmanager
def created_dir(folder: Path) -> Iterator[None]:
    """Create a folder; if it is still empty when the block ends, remove it again, with the parents created for it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     with created_dir(Path(place, "data", "pets")):
    ...         pass
    ...     Path(place, "data").exists()
    False
    """
    created = [directory for directory in (folder, *folder.parents) if not directory.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for directory in created:
            with suppress(OSError):  # it is in use
                directory.rmdir()


@contextmanager
def locked_dir(folder: Path) -> Iterator[None]:
    """Create a folder and lock it: wait until no other process has the lock; a process that dies releases it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place, locked_dir(Path(place, "pets")):
    ...     [path.name for path in Path(place, "pets").iterdir()]
    ['.fetching']
    """
    if fcntl is None:
        with created_dir(folder):
            yield
        return
    while True:
        with created_dir(folder):
            lock = _acquire_lock(folder)
            if lock is None:
                continue
            with lock:
                try:
                    yield
                finally:
                    (folder / _LOCK_NAME).unlink(missing_ok=True)
            return


def _acquire_lock(folder: Path) -> IO[str] | None:
    """Return the acquired lock; None if its previous holder has removed it, or the folder, meanwhile."""
    try:
        lock = (folder / _LOCK_NAME).open("w")
    except FileNotFoundError:
        return None
    _wait_for_lock(lock, folder)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock.fileno()), (folder / _LOCK_NAME).stat()):
            return lock
    lock.close()
    return None


def _wait_for_lock(lock: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if sys.stderr.isatty():
            print(f"waiting for another process that fetches into {folder}", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        return
