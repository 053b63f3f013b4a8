"""A Dask scheduler and its workers as real processes, of which one is killed in the middle of a trial."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.bench import TINY, tiny_trials, write_experiment
from helpers.processes import ForkedProcess, ForkServer, open_files, wait_for

from scarce.bench.runners.dask import n_workers
from scarce.bench.runners.local import run_local
from scarce.bench.trials.store import Store

EPOCHS = 60
LONG = TINY.replace("epochs = 3", f"epochs = {EPOCHS}")


class Cluster(NamedTuple):
    address: str
    scheduler: ForkedProcess
    start_worker: Callable[..., ForkedProcess]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer) -> Cluster:
    """A scheduler without workers."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    options = ["--scheduler-file", file, "--host", "127.0.0.1", "--no-dashboard"]

    def start(command: str, *arguments: str, halt_after: int | None = None) -> ForkedProcess:
        return fork_server.start(
            command, *options, *arguments, program="dask", cwd=folder, halt_after=halt_after
        )

    def start_worker(halt_after: int | None = None) -> ForkedProcess:
        return start("worker", "--no-nanny", "--nthreads", "1", halt_after=halt_after)

    scheduler = start("scheduler", "--port", "0")
    wait_for(lambda: file.exists() and file.stat().st_size, "the file of the scheduler")
    return Cluster(json.loads(file.read_text())["address"], scheduler, start_worker)


def start_run(fork_server: ForkServer, folder: Path, store: Store, cluster: Cluster) -> ForkedProcess:
    path = write_experiment(folder, LONG)
    return fork_server.start("bench", "run", path, "--store", store.path, "--cluster", cluster.address)


def wait_for_workers(cluster: Cluster, count: int) -> None:
    wait_for(lambda: n_workers(cluster.address) == count, "the workers of the cluster")


def test_worker_killed_in_the_middle_of_a_trial_loses_nothing(
    tmp_path: Path, cluster: Cluster, fork_server: ForkServer
) -> None:
    workers = [cluster.start_worker(halt_after=30), cluster.start_worker()]
    wait_for_workers(cluster, 2)
    store = Store(tmp_path / "store")
    run = start_run(fork_server, tmp_path, store, cluster)
    workers[0].wait_until_halted()
    (key,) = [path.stem for path in open_files(workers[0].pid) if path.suffix == ".lock"]
    assert store.checkpoint(key).exists()
    assert store.record(key) is None
    workers[0].send(signal.SIGKILL)
    ended = run.wait()
    assert ended.code == 0, ended
    assert ended.out.endswith("4 done, 0 failed\n")
    records = store.records()
    assert [record.status for record in records] == ["done"] * 4
    assert all(len(record.curves["loss"]) == EPOCHS for record in records)
    assert list((store.path / "locks").glob("*.lock")) == []


def test_killed_scheduler_is_reported_and_run_resumes_without_it(
    tmp_path: Path, cluster: Cluster, fork_server: ForkServer
) -> None:
    worker = cluster.start_worker(halt_after=30)  # in addition to the one that is left
    wait_for_workers(cluster, 2)
    store = Store(tmp_path / "store")
    run = start_run(fork_server, tmp_path, store, cluster)
    worker.wait_until_halted()
    cluster.scheduler.send(signal.SIGKILL)
    ended = run.wait()
    assert (ended.code, ended.err) == (
        1,
        f"error: the scheduler at {cluster.address} has stopped; start it again and rerun the same command to resume.\n",
    )
    worker.send(signal.SIGKILL)
    outcomes = list(run_local(tiny_trials(tmp_path, LONG), store, None))
    assert [outcome.status for outcome in outcomes] == ["done"] * 4
