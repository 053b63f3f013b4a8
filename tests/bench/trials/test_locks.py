"""Lock files: who holds them, and when a lock is stale."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scarce.bench.trials import _locks as locks
from scarce.bench.trials._locks import STALE_SECONDS, held, is_held


def lock(path: Path, host: str, pid: int, age: float = 0.0) -> Path:
    path.write_text(json.dumps({"host": host, "pid": pid}))
    os.utime(path, (time.time() - age,) * 2)
    return path


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_lock_is_held_while_the_block_lasts(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a.lock"
    with held(path) as ours:
        assert ours
        assert is_held(path)
        holder = json.loads(path.read_text())
        assert (holder["host"], holder["pid"]) == (socket.gethostname(), os.getpid())
        with held(path) as again:
            assert not again
        assert is_held(path)
    assert not path.exists()
    with pytest.raises(KeyboardInterrupt), held(path):
        raise KeyboardInterrupt
    assert not path.exists()


def test_the_dead_hold_nothing_here_and_elsewhere_only_while_they_are_heard_of(
    tmp_path: Path, dead: int
) -> None:
    path = tmp_path / "a.lock"
    assert not is_held(lock(path, socket.gethostname(), dead))
    assert is_held(lock(path, socket.gethostname(), os.getppid()))
    assert is_held(lock(path, "another", dead))
    assert is_held(lock(path, "another", dead, age=STALE_SECONDS / 2))
    assert not is_held(lock(path, "another", dead, age=STALE_SECONDS + 1))
    path.write_text("")  # one that is just being written
    assert is_held(path)
    with held(lock(path, socket.gethostname(), dead)) as ours:
        assert ours


def test_a_later_process_of_the_same_number_is_another(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held(path):
        holder = json.loads(path.read_text())
    for life, expected in ((holder["life"], True), ("another", False)):
        path.write_text(json.dumps(holder | {"life": life}))
        assert is_held(path) == expected


def test_a_zombie_is_dead(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        path = lock(tmp_path / "a.lock", socket.gethostname(), process.pid)
        assert is_held(path)
        process.kill()
        for _ in range(1000):  # it ends, but is not waited for
            if not is_held(path):
                break
            time.sleep(0.01)
        assert not is_held(path)


def test_a_lock_that_another_took_over_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held(path):
        lock(path, "another", 1)
    assert is_held(path)


def test_the_holder_is_heard_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_HEARTBEAT_SECONDS", 0.01)
    path = tmp_path / "a.lock"
    with held(path):
        os.utime(path, (1.0, 1.0))
        for _ in range(1000):
            if path.stat().st_mtime > 2:
                break
            time.sleep(0.01)
        assert path.stat().st_mtime > 2


def test_of_many_that_find_a_stale_lock_one_takes_it(tmp_path: Path, dead: int) -> None:
    n, path = 16, tmp_path / "a.lock"
    for _ in range(20):
        lock(path, socket.gethostname(), dead)
        start, end = threading.Barrier(n), threading.Barrier(n)

        def take(_: int, start: threading.Barrier = start, end: threading.Barrier = end) -> bool:
            start.wait()
            with held(path) as ours:
                end.wait()
            return ours

        with ThreadPoolExecutor(n) as pool:
            assert sum(pool.map(take, range(n))) == 1
