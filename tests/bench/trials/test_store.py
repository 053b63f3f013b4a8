"""The store: records that are whole or told of, and locks that only the living hold."""

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
from helpers.bench_experiments import checksum, tiny, trials_of
from helpers.bench_records import with_spec

from scarce.bench.trials import _locks as locks
from scarce.bench.trials._locks import STALE_SECONDS, held, is_held
from scarce.bench.trials.plan import plan, planned_records
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.errors import FileError


def record_of(folder: Path, number: int = 0, **changes: object) -> TrialRecord:
    trial = trials_of(folder)[number]
    record = TrialRecord(
        spec=trial.spec, label=trial.label, experiment="tiny", protocol="shortened", accuracy=0.5
    )
    return record.model_copy(update=changes)


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


def test_records_come_back_and_the_checkpoint_of_what_is_done_goes(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    done, failed = record_of(tmp_path), record_of(tmp_path, 1, status="failed", error="why", accuracy=None)
    for record in (done, failed):
        store.checkpoint(record.key).parent.mkdir(exist_ok=True, parents=True)
        store.checkpoint(record.key).write_text("half")
        store.save(record)
    assert sorted(store.records(), key=lambda record: record.status) == [done, failed]
    assert store.record(done.key) == done
    assert [path.stem for path in store.checkpoint("x").parent.iterdir()] == [failed.key]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"format": "scarce-trial-2"}', '"scarce-trial-2"', "\x00"]
)
def test_a_damaged_record_is_told_of_and_counts_as_none(tmp_path: Path, content: str) -> None:
    store, record = Store(tmp_path), record_of(tmp_path)
    store.save(record)
    path = tmp_path / "records" / f"{record.key}.json"
    path.write_text(content)
    with pytest.warns(UserWarning, match=f"{record.key}.json.* Its trial counts as not run"):
        assert store.record(record.key) is None
    path.write_bytes(b"\xff")
    with pytest.warns(UserWarning, match="is damaged"):
        assert store.records() == []


def test_a_record_under_another_name_is_no_record_of_it(tmp_path: Path) -> None:
    store, record = Store(tmp_path), record_of(tmp_path)
    store.save(record)
    folder = tmp_path / "records"
    (folder / f"{record.key}.json").rename(folder / "0123456789abcdef.json")
    with pytest.warns(UserWarning, match=f"is the record of {record.key}, under a wrong name"):
        assert store.record("0123456789abcdef") is None


def test_the_records_of_an_experiment_are_the_latest_of_its_trials(tmp_path: Path) -> None:
    store, experiment = Store(tmp_path / "store"), tiny(tmp_path)
    first = record_of(tmp_path, finished="2026-01-02")
    older = with_spec(record_of(tmp_path, finished="2026-01-01"), data_checksum="old")
    alien = with_spec(record_of(tmp_path, finished="2026-01-03"), setting="scar-a")
    revised = with_spec(record_of(tmp_path, finished="2026-01-04"), method_revision=2)
    for record in (alien, first, older, revised):
        store.save(record)
    assert store.records() == [older, first, alien, revised]
    assert planned_records(plan(experiment, checksum), store.records()) == [first]
    assert planned_records(plan(experiment, lambda name: None), [older, first]) == [first]
    assert planned_records(plan(experiment, checksum), [older, revised]) == [revised]
    assert planned_records(plan(experiment.changed(epochs=9), checksum), store.records()) == []


def test_a_folder_without_trials_is_refused_where_results_are_wanted(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no records of trials; run an experiment first"):
        Store(tmp_path).require()
    Store(tmp_path).save(record_of(tmp_path))
    assert Store(tmp_path).require() == Store(tmp_path)


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


def test_the_store_knows_who_was_left(tmp_path: Path, dead: int) -> None:
    store = Store(tmp_path)
    assert not store.was_left("k")
    with store.claimed("k"):
        assert store.is_claimed("k")
        assert not store.was_left("k")
        lock(tmp_path / "locks" / "k.lock", socket.gethostname(), dead)
        assert store.was_left("k")


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
