"""``scarce bench run`` when the disk is full, and when it is killed itself: trials do not fail, and workers end."""

import signal
from pathlib import Path

import pytest
from helpers.bench import TINY, tiny_trials
from helpers.processes import ForkServer, process_state, wait_for

from scarce.bench import Store
from scarce.training._checkpoint import load_state

pytestmark = pytest.mark.early

# A limit on the size of files: a checkpoint does not fit, as on a full disk.
FULL_DISK = """
import resource
import sys

from scarce.cli.main import main

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    sys.exit(main(sys.argv[1:]))
"""


def children(pid: int) -> set[int]:
    """The processes that a process has started."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if f"PPid:\t{pid}\n" in status.read_text():
                found.add(int(status.parent.name))
        except OSError:  # the process has ended
            continue
    return found


def test_full_disk_leaves_trials_for_the_next_run(tmp_path: Path, fork_server: ForkServer) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "full.py").write_text(FULL_DISK)
    words = ("bench", "run", "tiny.toml", "--store", "store", "--jobs")
    ended = fork_server.run(*words, 2, program=tmp_path / "full.py", cwd=tmp_path)
    assert ended.code == 1
    assert ended.out.splitlines()[-1] == "0 done, 0 failed"
    assert ended.out.count("\nunfinished: digits, uniform, ") == 4
    assert ended.err.startswith("4 trials could not be finished: ")
    assert "File too large" in ended.err
    assert ended.err.endswith("; rerun the same command to continue\n")
    assert ended.err.count("\n") == 1
    assert Store(tmp_path / "store").records() == []

    again = fork_server.run(*words, 1, cwd=tmp_path)
    assert (again.code, again.err) == (0, "")
    assert again.out.splitlines()[0].startswith("tiny (shortened): 4 trials, 4 to run")
    assert again.out.splitlines()[-1] == "4 done, 0 failed"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_workers_end_when_their_run_is_killed(tmp_path: Path, fork_server: ForkServer) -> None:
    endless = TINY.replace("epochs = 3", "epochs = 1000000")
    keys = [trial.key for trial in tiny_trials(tmp_path, endless)]
    store = Store(tmp_path / "store")
    run = fork_server.start("bench", "run", "tiny.toml", "--store", "store", "--jobs", "2", cwd=tmp_path)

    def checkpoints() -> list[Path]:
        return [store.checkpoint(key) for key in keys if store.checkpoint(key).exists()]

    wait_for(lambda: len(checkpoints()) == 2, "two trials to run")
    workers = children(run.pid)
    assert len(workers) >= 2
    run.send(signal.SIGKILL)
    run.wait()
    for worker in workers:
        wait_for(lambda pid=worker: process_state(pid) in ("Z", None), "the end of a worker")
    assert [load_state(path)["epoch"] >= 1 for path in checkpoints()] == [True, True]
    assert not any(store.is_claimed(key) for key in keys)
