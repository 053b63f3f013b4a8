"""Lock files: each names the process that holds it, and is stale when that process has died."""

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
"""A lock without a heartbeat for this long is stale, on whichever machine its holder is."""
_HEARTBEAT_SECONDS = 10.0


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock for the block, unless a living process holds it; yield whether it was acquired.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, held(Path(folder, "a.lock")) as first, held(Path(folder, "a.lock")) as second:
    ...     first, second
    (True, False)
    """
    if not _acquire(path):
        yield False
        return
    stopped = threading.Event()
    heartbeat = threading.Thread(target=_send_heartbeats, args=(path, stopped), daemon=True)
    heartbeat.start()
    try:
        yield True
    finally:
        stopped.set()
        heartbeat.join()
        if (
            _holder(path) == _this_process()
        ):  # another may have taken it over, say because this machine was asleep
            path.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Return whether a living process holds the lock: by its process id on this machine, elsewhere by its heartbeat.

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


def _acquire(path: Path) -> bool:
    make_dir(path.parent)
    try:
        # One process at a time: of two that find a stale lock, the second could remove the new lock of the first.
        with (path.parent / ".taking").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if is_held(path):
                return False
            path.unlink(missing_ok=True)
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            with os.fdopen(handle, "w") as file:
                json.dump(_this_process(), file)
    except FileExistsError:  # where flock has no effect, as on some network drives
        return False
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error
    return True


def _this_process() -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "life": _start_time(os.getpid())}


def _holder(path: Path) -> dict[str, object]:
    """Return the holder of the lock; empty while the file is being written."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_alive(holder: dict[str, object]) -> bool:
    start_time = _start_time(holder.get("pid"))
    return start_time is not None and holder.get("life", start_time) == start_time


def _start_time(pid: object) -> str | None:
    """Return when a process started, which identifies it among those with the same id; None if it is dead."""
    if not isinstance(pid, int) or pid <= 0:
        return None
    if Path("/proc/self/stat").exists():
        try:
            state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if state == "Z" else rest[18]  # a zombie has ended
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:  # alive, of another user
        pass
    return "unknown"


def _send_heartbeats(path: Path, stopped: threading.Event) -> None:
    while not stopped.wait(_HEARTBEAT_SECONDS):
        try:
            os.utime(path)
        except OSError:  # the folder may be unreachable for a while
            continue
