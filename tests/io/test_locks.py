"""Locks between processes: a living holder keeps them, a dead one does not."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.bench import lock_in_another_process
from helpers.processes import ENVIRONMENT, process_state, wait_for

from scarce._io.locks import held, is_held
from scarce.errors import FileError


def test_lock_is_held_while_the_block_lasts(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a.lock"
    with held(path) as ours:
        assert ours
        assert is_held(path)
        with held(path) as again:
            assert not again
        assert is_held(path)
    assert not path.exists()
    with pytest.raises(KeyboardInterrupt), held(path):
        raise KeyboardInterrupt
    assert not path.exists()


@pytest.mark.slow
def test_lock_of_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with lock_in_another_process(path) as process:
        assert is_held(path)
        with held(path) as ours:
            assert not ours
        process.kill()
        wait_for(
            lambda: process_state(process.pid) == "Z", "the end of the process"
        )  # its parent has not noticed yet
        assert path.exists()
        assert not is_held(path)
    with held(path) as ours:
        assert ours
    assert not path.exists()


def test_lock_file_that_names_a_living_process_is_free_without_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"  # as after a crash, when another process has the same number
    path.write_text(f"{os.getpid()}\n{socket.gethostname()}\n")
    assert not is_held(path)
    path.write_text(f"{os.getpid()}\n{socket.gethostname()}\n")
    with held(path) as ours:
        assert ours


@pytest.mark.slow
@pytest.mark.parametrize("modified", [1.0, 4e9], ids=["past", "future"])
def test_clocks_and_pauses_do_not_free_lock_of_living_process(tmp_path: Path, modified: float) -> None:
    path = tmp_path / "a.lock"
    with lock_in_another_process(path) as process:
        process.send_signal(signal.SIGSTOP)
        os.utime(path, (modified, modified))
        assert is_held(path)
        with held(path) as ours:
            assert not ours


def test_clocks_do_not_keep_lock_of_dead_process(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.touch()
    os.utime(path, (4e9, 4e9))
    with held(path) as ours:
        assert ours


def test_asking_does_not_create_a_lock(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "locks" / "a.lock")
    assert list(tmp_path.iterdir()) == []


def test_lock_that_cannot_be_opened_counts_as_held(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.mkdir()
    assert is_held(path)
    with pytest.raises(FileError, match=r"a\.lock cannot be locked: Is a directory"), held(path):
        pass


def test_abandoned_lock_is_acquired_by_one_of_many_threads(tmp_path: Path) -> None:
    n, path = 16, tmp_path / "a.lock"
    for _ in range(20):
        path.touch()
        start, end = threading.Barrier(n), threading.Barrier(n)

        def take(_: int, start: threading.Barrier = start, end: threading.Barrier = end) -> bool:
            start.wait()
            with held(path) as ours:
                end.wait()
            return ours

        with ThreadPoolExecutor(n) as pool:
            assert sum(pool.map(take, range(n))) == 1


COUNT_UNDER_LOCK = """
import sys
from pathlib import Path
from scarce._io.locks import held
lock, count = Path(sys.argv[1]), Path(sys.argv[2])
done = 0
while done < 100:
    with held(lock) as ours:
        if ours:
            count.write_text(str(int(count.read_text()) + 1))
            done += 1
"""


@pytest.mark.slow
def test_two_processes_never_hold_a_lock_at_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    command = [sys.executable, "-c", COUNT_UNDER_LOCK, tmp_path / "a.lock", count]
    processes = [subprocess.Popen(command, env=ENVIRONMENT) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert count.read_text() == "200"


@pytest.mark.slow
def test_locks_are_importable_without_fcntl() -> None:
    script = "import sys; sys.modules['fcntl'] = None; import scarce.bench.trials.store, scarce.datasets"
    assert subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT).returncode == 0
