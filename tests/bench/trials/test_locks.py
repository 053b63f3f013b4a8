"""Lock files: who holds them, and when a lock is stale."""

import json
import os
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.bench import write_lock
from helpers.processes import wait_for

from scarce.bench.trials import _locks as locks
from scarce.bench.trials._locks import STALE_SECONDS, held, is_held


def test_lock_is_held_while_the_block_lasts(tmp_path: Path) -> None:
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


def test_lock_of_dead_process_is_free_here_and_elsewhere_after_time_out(
    tmp_path: Path, dead_pid: int
) -> None:
    path = tmp_path / "a.lock"
    assert not is_held(write_lock(path, socket.gethostname(), dead_pid))
    assert is_held(write_lock(path, socket.gethostname(), os.getppid()))
    assert is_held(write_lock(path, "another", dead_pid))
    assert is_held(write_lock(path, "another", dead_pid, age=STALE_SECONDS / 2))
    assert not is_held(write_lock(path, "another", dead_pid, age=STALE_SECONDS + 1))
    path.write_text("")  # one that is just being written
    assert is_held(path)
    with held(write_lock(path, socket.gethostname(), dead_pid)) as ours:
        assert ours


def test_lock_of_earlier_process_with_same_pid_is_free(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held(path):
        holder = json.loads(path.read_text())
    for life, expected in ((holder["life"], True), ("another", False)):
        path.write_text(json.dumps(holder | {"life": life}))
        assert is_held(path) == expected


@pytest.mark.slow
def test_lock_of_zombie_is_free(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        path = write_lock(tmp_path / "a.lock", socket.gethostname(), process.pid)
        assert is_held(path)
        process.kill()  # without waiting for its end
        wait_for(lambda: not is_held(path), "the lock of a zombie to be free")


def test_lock_taken_over_by_another_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held(path):
        write_lock(path, "another", 1)
    assert is_held(path)


def test_held_lock_has_a_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_HEARTBEAT_SECONDS", 0.01)
    path = tmp_path / "a.lock"
    with held(path):
        os.utime(path, (1.0, 1.0))
        wait_for(lambda: path.stat().st_mtime > 2, "a heartbeat")


def test_stale_lock_is_taken_by_one_of_many_threads(tmp_path: Path, dead_pid: int) -> None:
    n, path = 16, tmp_path / "a.lock"
    for _ in range(20):
        write_lock(path, socket.gethostname(), dead_pid)
        start, end = threading.Barrier(n), threading.Barrier(n)

        def take(_: int, start: threading.Barrier = start, end: threading.Barrier = end) -> bool:
            start.wait()
            with held(path) as ours:
                end.wait()
            return ours

        with ThreadPoolExecutor(n) as pool:
            assert sum(pool.map(take, range(n))) == 1
