"""Folders that are there only if something came into them, and into which one process puts files at a time."""

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

__all__ = ["locked_dir", "made"]

_LOCK = ".fetching"


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder; if it is still empty when the block ends, it goes again, with all that was made for it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     with made(Path(place, "data", "pets")):
    ...         pass
    ...     Path(place, "data").exists()
    False
    """
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for each in new:
            with suppress(OSError):  # it is in use
                each.rmdir()


@contextmanager
def locked_dir(folder: Path) -> Iterator[None]:
    """Make a folder, and wait until no other process is at work in it; a process that dies no longer is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place, locked_dir(Path(place, "pets")):
    ...     [path.name for path in Path(place, "pets").iterdir()]
    ['.fetching']
    """
    if fcntl is None:
        with made(folder):
            yield
        return
    while True:
        with made(folder):
            lock = _taken(folder)
            if lock is None:
                continue
            with lock:
                try:
                    yield
                finally:
                    (folder / _LOCK).unlink(missing_ok=True)
            return


def _taken(folder: Path) -> IO[str] | None:
    """Return the lock, held; None if whoever had it before has removed it, or the folder, meanwhile."""
    try:
        lock = (folder / _LOCK).open("w")
    except FileNotFoundError:
        return None
    _wait_for(lock, folder)
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock.fileno()), (folder / _LOCK).stat()):
            return lock
    lock.close()
    return None


def _wait_for(lock: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if sys.stderr.isatty():
            print(f"waiting for another process that fetches into {folder}", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:  # a drive that knows no locks
        return
