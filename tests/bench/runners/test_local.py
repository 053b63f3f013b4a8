"""Running trials in this process: each once, whatever happened before."""

import json
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest
from helpers.bench_experiments import ONE_FAILS, trials_of

from scarce.bench.runners import local as run_module
from scarce.bench.runners.local import Outcome, execute, run_local
from scarce.bench.runners.progress import Watch
from scarce.bench.runners.status import look
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store


def test_trials_with_a_record_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials, store = trials_of(tmp_path, ONE_FAILS), Store(tmp_path / "store")
    everything = {trial.key for trial in trials}
    assert look(trials, store).to_run() == everything
    statuses = [outcome.status for outcome in run_local(trials, store, None)]
    assert statuses == ["done", "failed", "done", "failed"]
    assert look(trials, store).to_run() == set()
    assert look(trials, store).to_run(retry_failed=True) == {trials[1].key, trials[3].key}

    def never(*_: object) -> None:
        raise AssertionError("run again")

    monkeypatch.setattr(run_module, "run_trial", never)
    assert [outcome.status for outcome in run_local(trials, store, None)] == statuses


def test_failed_trials_are_run_again_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial, store = trials_of(tmp_path)[0], Store(tmp_path / "store")
    store.save(
        TrialRecord(
            spec=trial.spec,
            label=trial.label,
            experiment="tiny",
            protocol="shortened",
            status="failed",
            error="the disk was full",
        )
    )
    assert execute(trial, str(store.path), None).status == "failed"
    assert execute(trial, str(store.path), None, retry_failed=True).status == "done"
    assert store.record(trial.key).error is None


def test_a_trial_of_another_process_is_waited_for_and_taken_over_when_it_dies(tmp_path: Path) -> None:
    trials, store = trials_of(tmp_path), Store(tmp_path / "store")
    (store.path / "locks").mkdir(parents=True)
    lock = store.path / "locks" / f"{trials[0].key}.lock"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        lock.write_text(json.dumps({"host": socket.gethostname(), "pid": other.pid}))
        assert look(trials, store).running == [trials[0]]
        assert execute(trials[0], str(store.path), None).status == "elsewhere"
        outcomes = run_local(trials, store, None)
        assert [next(outcomes).trial for _ in range(3)] == trials[1:]
        ending = threading.Timer(0.5, other.kill)
        ending.start()
        last = next(outcomes)
    assert (last.trial, last.status) == (trials[0], "done")
    assert not lock.exists()


def test_a_trial_whose_process_is_killed_again_and_again_fails_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, store = trials_of(tmp_path), Store(tmp_path / "store")
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    whole = run_module._pool

    def pool(left: list, jobs: int, options: dict):
        for trial in left:
            if trial == trials[1]:
                lock = store.path / "locks" / f"{trial.key}.lock"
                lock.write_text(json.dumps({"host": socket.gethostname(), "pid": dead.pid}))
                raise BrokenExecutor
            yield from whole([trial], 1, options)

    monkeypatch.setattr(run_module, "_pool", pool)
    outcomes = {outcome.trial.key: outcome for outcome in run_local(trials, store, None)}
    assert [outcomes[trial.key].status for trial in trials] == ["done", "failed", "done", "done"]
    assert store.record(trials[1].key).error == "its process was killed; perhaps memory is short"


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    trials = trials_of(tmp_path)
    alone, together = tmp_path / "alone", tmp_path / "together"
    for trial in trials:
        execute(trial, str(alone), None)
    threads = [threading.Thread(target=execute, args=(trial, str(together), None)) for trial in trials]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for trial in trials:
        one, other = (Store(path).record(trial.key) for path in (alone, together))
        assert one.curves == other.curves


def test_the_state_of_an_experiment_and_the_time_it_takes(tmp_path: Path) -> None:
    trials, store = trials_of(tmp_path), Store(tmp_path / "store")
    assert look(trials, store).seconds_left() is None
    for trial, seconds in zip(trials, (10.0, 20.0), strict=False):
        store.save(
            TrialRecord(
                spec=trial.spec,
                label=trial.label,
                experiment="tiny",
                protocol="shortened",
                accuracy=0.5,
                seconds=seconds,
            )
        )
    status = look(trials, store)
    assert (len(status.done), status.left) == (2, trials[2:])
    assert status.seconds_left() == 30.0


def test_what_is_told_where_there_is_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trials = trials_of(tmp_path)
    with Watch(2, at_once=2) as watch:
        watch.began = time.monotonic() - 60
        watch.tell(Outcome(trials[0], "done", accuracy=0.9, seconds=60))
        watch.tell(Outcome(trials[1], "failed", error="why"))
    first, second = capsys.readouterr().out.splitlines()
    assert first == (
        "done: digits, uniform, scarce, linear, seed 0: 90.00 % in 1 min "
        "(1 done, 1 running, 0 left, 0 failed, about 1 min)"
    )
    assert second == (
        "failed: digits, uniform, nn, linear, seed 0: why (1 done, 0 running, 0 left, 1 failed)"
    )
