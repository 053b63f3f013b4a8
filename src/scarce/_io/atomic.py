"""Atomic writes: a file or folder is written completely, or not at all."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scarce._io.paths import check_overwrite
from scarce.errors import FileError

_RANDOM_PART = "?" * 8  # of the names that tempfile chooses


@contextmanager
def atomic_write(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder; it is renamed to `path` if the block succeeds, else deleted.

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
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            _apply_umask(temporary, 0o666)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


def clean_leftovers(path: str | Path) -> None:
    """Delete the temporary files that killed processes left behind in `atomic_write` of `path`.

    No other process may be writing to `path` at the same time.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, ".a.txt.x1y2z3_0.txt").write_text("half")
    ...     clean_leftovers(Path(folder, "a.txt"))
    ...     list(Path(folder).iterdir())
    []
    """
    path = Path(path)
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.{_RANDOM_PART}{glob.escape(path.suffix)}"):
        leftover.unlink(missing_ok=True)


@contextmanager
def atomic_write_dir(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder in the same parent folder; it replaces `folder` if the block succeeds, else it is deleted.

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
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        previous = temporary.with_name(f"{temporary.name}.earlier")
        try:
            yield temporary
            _apply_umask(temporary, 0o777)
            if folder.exists():
                folder.rename(previous)  # deleted once the new one is in place
            temporary.rename(folder)
            shutil.rmtree(previous, ignore_errors=True)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise FileError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _apply_umask(path: Path, mode: int) -> None:
    """Set the permissions of a temporary file or folder to those of an ordinary one."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod(mode & ~umask)
