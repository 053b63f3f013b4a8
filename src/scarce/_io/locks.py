"""Locks between processes, held by the operating system: when a process dies, its locks are free at once."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from scarce._io.paths import make_dir
from scarce.errors import FileError


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock for the block, unless another process holds it; yield whether it was acquired.

    The lock file is deleted at the end; that of a killed process stays, but no longer locks.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, held(Path(folder, "a.lock")) as first, held(Path(folder, "a.lock")) as second:
    ...     first, second
    (True, False)
    """
    lock = FileLock(path)
    acquired = _try_acquire(lock, path)
    try:
        yield acquired
    finally:
        if acquired:
            with suppress(OSError):  # Windows keeps a file that is open
                path.unlink()
            lock.release()


def is_held(path: Path) -> bool:
    """Return whether a living process holds the lock.

    Examples
    --------
    >>> is_held(Path("nowhere.lock"))
    False
    """
    if not path.exists():
        return False
    try:
        with held(path) as acquired:
            return not acquired
    except FileError:  # of another user; it may be alive
        return True


# Not `SoftFileLease`: where names cannot be exchanged, as on NFS and SMB, it never frees the lease of a dead process.
def _try_acquire(lock: FileLock, path: Path) -> bool:
    make_dir(path.parent)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    except OSError as error:
        raise FileError(f"{path} cannot be locked: {error.strerror or error}.") from error
    return True
