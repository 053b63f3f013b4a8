"""A real scheduler and two worker processes, one of which is killed in the middle of a trial: nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helpers.bench import TINY, tiny_trials, write_experiment

from scarce.bench.runners.dask import n_workers
from scarce.bench.runners.local import run_local
from scarce.bench.trials.store import Store

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
# Long enough to be met in the middle of a trial: every epoch writes a checkpoint.
LONG = TINY.replace("epochs = 3", "epochs = 60")


Cluster = tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]


def wait_for(what: Callable[[], object], seconds: float = 60) -> object:
    for _ in range(int(seconds / 0.02)):
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The address of a scheduler, its process, and those of two workers."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    file = tmp_path / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    with ExitStack() as stack, (tmp_path / "cluster.log").open("wb") as log:

        def start(command: str, *arguments: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", command, "--scheduler-file", str(file), *here, *arguments],
                cwd=tmp_path,
                env=ENVIRONMENT,
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = start("scheduler", "--port", "0")
        wait_for(lambda: file.exists() and file.stat().st_size)
        workers = [start("worker", "--no-nanny", "--nthreads", "1") for _ in range(2)]
        yield json.loads(file.read_text())["address"], scheduler, workers


def test_a_worker_that_is_killed_in_the_middle_of_a_trial_loses_nothing(
    tmp_path: Path, cluster: Cluster
) -> None:
    address, _, workers = cluster
    wait_for(lambda: n_workers(address) == 2)
    path, store = write_experiment(tmp_path, LONG), Store(tmp_path / "store")
    command = [sys.executable, "-m", "scarce", "bench", "run", str(path), "--store", str(store.path)]
    with subprocess.Popen(
        [*command, "--cluster", address],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:

        def in_the_middle() -> tuple[int, str] | None:
            """Return a worker and the key of the trial it is in the middle of."""
            for lock in (store.path / "locks").glob("*.lock"):
                try:
                    pid = json.loads(lock.read_text())["pid"]
                except (OSError, ValueError):
                    continue
                if store.checkpoint(lock.stem).exists():
                    return pid, lock.stem
            return None

        pid, key = wait_for(in_the_middle)
        assert pid in [worker.pid for worker in workers]
        os.kill(pid, signal.SIGKILL)
        left = store.record(key) is None
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, (out, err)
    assert out.endswith("4 done, 0 failed\n")
    records = store.records()
    assert [record.status for record in records] == ["done"] * 4
    assert all(len(record.curves["loss"]) == 60 for record in records)
    assert list((store.path / "locks").glob("*.lock")) == []
    assert left


def test_a_scheduler_that_is_killed_is_told_of_and_the_run_goes_on_without_it(
    tmp_path: Path, cluster: Cluster
) -> None:
    address, scheduler, _ = cluster  # with the worker that is left
    wait_for(lambda: n_workers(address))
    path, store = write_experiment(tmp_path, LONG), Store(tmp_path / "store")
    command = [sys.executable, "-m", "scarce", "bench", "run", str(path), "--store", str(store.path)]
    with subprocess.Popen(
        [*command, "--cluster", address],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        wait_for(lambda: list((store.path / "checkpoints").glob("[!.]*")))
        scheduler.kill()
        _, err = run.communicate(timeout=120)
    assert (run.returncode, err) == (
        1,
        f"error: the scheduler at {address} is gone; when there is one again, the same command goes on from here.\n",
    )
    outcomes = list(run_local(tiny_trials(tmp_path, LONG), store, None))
    assert [outcome.status for outcome in outcomes] == ["done"] * 4
