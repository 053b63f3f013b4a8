"""Folders for downloads: locked while a process downloads into them, and deleted again if they stay empty."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK_NAME = ".fetching"


@contextmanager
def created_dir(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; those that are still empty when the block ends are deleted again.

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
            with suppress(OSError):  # it is not empty
                directory.rmdir()


@contextmanager
def locked_dir(folder: Path) -> Iterator[None]:
    """Create a folder and lock it for the block; wait while another process holds the lock.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place, locked_dir(Path(place, "pets")):
    ...     [path.name for path in Path(place, "pets").iterdir()]
    ['.fetching']
    """
    lock = FileLock(folder / _LOCK_NAME)
    with ExitStack() as stack:
        while not lock.is_locked:
            stack.enter_context(created_dir(folder))
            with suppress(FileNotFoundError):  # the previous holder has just removed the folder
                _acquire(lock, folder)
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps a file that is open
                (folder / _LOCK_NAME).unlink()
            lock.release()


def _acquire(lock: FileLock, folder: Path) -> None:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if sys.stderr.isatty():
            print(f"waiting for another process to finish downloading to {folder}", file=sys.stderr)
        lock.acquire()
