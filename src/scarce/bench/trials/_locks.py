"""One process at a time: a file that says who is at work, and goes stale when they die."""

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scarce._io.paths import make_dir
from scarce.errors import FileError

__all__ = ["STALE_SECONDS", "held", "is_held"]

STALE_SECONDS = 120.0
"""A lock whose holder has not been heard of for so long is given up, wherever the holder is."""
_HEARTBEAT_SECONDS = 10.0


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock while the block lasts, unless a living process holds it; tell whether it is ours.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, held(Path(folder, "a.lock")) as ours, held(Path(folder, "a.lock")) as again:
    ...     ours, again
    (True, False)
    """
    if not _take(path):
        yield False
        return
    over = threading.Event()
    heart = threading.Thread(target=_beat, args=(path, over), daemon=True)
    heart.start()
    try:
        yield True
    finally:
        over.set()
        heart.join()
        if _holder(path) == _me():  # and not one who took it for stale, say because this machine was asleep
            path.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Tell whether a living process holds the lock: on this machine by its number, elsewhere by its heartbeat.

    Examples
    --------
    >>> is_held(Path("nowhere.lock"))
    False
    """
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return False
    holder = _holder(path)
    if holder.get("host") == socket.gethostname() and not _is_alive(holder):
        return False
    return age < STALE_SECONDS


def _take(path: Path) -> bool:
    make_dir(path.parent)
    try:
        # Of two that find a stale lock, the second could remove the new lock of the first: one at a time.
        with (path.parent / ".taking").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            if is_held(path):
                return False
            path.unlink(missing_ok=True)
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            with os.fdopen(handle, "w") as file:
                json.dump(_me(), file)
    except FileExistsError:  # where the door does not hold, as on some network drives
        return False
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error
    return True


def _me() -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "life": _life(os.getpid())}


def _holder(path: Path) -> dict[str, object]:
    """Return who holds the lock; nobody that is known while the file is being written."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_alive(holder: dict[str, object]) -> bool:
    life = _life(holder.get("pid"))
    return life is not None and holder.get("life", life) == life


def _life(pid: object) -> str | None:
    """Return what tells a living process from a later one of the same number: when it started; None if it is dead."""
    if not isinstance(pid, int) or pid <= 0:
        return None
    if Path("/proc/self/stat").exists():
        try:
            state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if state == "Z" else rest[18]  # a zombie is dead, though its parent has not noticed
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:  # alive, and another user's
        pass
    return "unknown"


def _beat(path: Path, over: threading.Event) -> None:
    while not over.wait(_HEARTBEAT_SECONDS):
        try:
            os.utime(path)
        except OSError:  # the folder may be out of reach for a while
            continue
