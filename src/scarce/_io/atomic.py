"""Atomic writes: a file or folder is written completely, or not at all, also if the process is killed."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scarce._io.exchange import exchange
from scarce._io.paths import check_overwrite
from scarce._io.temporary import delete, delete_earlier, earlier_name, restore_dir, temporary_beside
from scarce.errors import FileError

_umask_lock = threading.Lock()  # reading the umask means setting it, for all threads


@contextmanager
def atomic_write(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it is renamed to `path` if the block succeeds, else deleted.

    Temporary files that killed processes left behind are deleted first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    path = Path(path)
    try:
        check_overwrite(path, force=force)
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_beside(path) as temporary:
            yield temporary
            _sync(temporary)
            _apply_umask(temporary, 0o666)
            temporary.replace(path)
            _sync_names(path.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


@contextmanager
def atomic_write_dir(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder in the same parent folder; it replaces `folder` if the block succeeds, else it is deleted.

    A process that is killed leaves either the old or the new folder, which `find_dir` finds. The next call deletes what else
    it left behind.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     with atomic_write_dir(Path(parent, "model")) as temporary:
    ...         _ = (temporary / "a.txt").write_text("whole")
    ...     [path.name for path in Path(parent, "model").iterdir()]
    ['a.txt']
    """
    folder = Path(folder)
    try:
        restore_dir(folder)
        delete_earlier(folder)
        with temporary_beside(folder, is_dir=True) as temporary:
            yield temporary
            for path in (*temporary.rglob("*"), temporary):
                _sync_names(path) if path.is_dir() else _sync(path)
            _apply_umask(temporary, 0o777)
            _replace_dir(temporary, folder)
            _sync_names(folder.parent)
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _replace_dir(temporary: Path, folder: Path) -> None:
    """Rename the temporary folder to `folder`; an earlier one is left under the temporary name, or deleted."""
    if not folder.exists():
        temporary.rename(folder)
    elif not exchange(temporary, folder):
        earlier = earlier_name(temporary)
        folder.rename(earlier)
        try:
            temporary.rename(folder)
        except OSError:
            restore_dir(folder)
            raise
        delete(earlier)


def _sync(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb") as written:
        os.fsync(written.fileno())


def _sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _apply_umask(path: Path, mode: int) -> None:
    """Set the permissions of a temporary file or folder to those of an ordinary one."""
    with _umask_lock:
        umask = os.umask(0)
        os.umask(umask)
    path.chmod(mode & ~umask)
