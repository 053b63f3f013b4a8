"""Running trials on this machine: each trial once, whatever happened before."""

import threading
from concurrent.futures import BrokenExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.bench import ONE_METHOD_FAILS, lock_in_another_process, tiny_trials

from scarce.bench.runners import local as run_module
from scarce.bench.runners.local import Outcome, execute, record_failure, run_local
from scarce.bench.runners.status import get_status
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.errors import FileError


def test_run_local_skips_trials_with_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials, store = tiny_trials(tmp_path, ONE_METHOD_FAILS), Store(tmp_path / "store")
    everything = {trial.key for trial in trials}
    assert get_status(trials, store).to_run() == everything
    statuses = [outcome.status for outcome in run_local(trials, store, None)]
    assert statuses == ["done", "failed", "done", "failed"]
    assert get_status(trials, store).to_run() == set()
    assert get_status(trials, store).to_run(retry_failed=True) == {trials[1].key, trials[3].key}

    def never(*_: object) -> None:
        raise AssertionError("run again")

    monkeypatch.setattr(run_module, "run_trial", never)
    assert [outcome.status for outcome in run_local(trials, store, None)] == statuses


def test_execute_repeats_failed_trial_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial, store = tiny_trials(tmp_path)[0], Store(tmp_path / "store")
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


@pytest.mark.slow
def test_run_local_takes_over_trial_of_process_that_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, store = tiny_trials(tmp_path), Store(tmp_path / "store")
    (store.path / "locks").mkdir(parents=True)
    lock = store.path / "locks" / f"{trials[0].key}.lock"
    with lock_in_another_process(lock) as other:

        def end_the_other(_: float) -> None:
            other.kill()
            other.wait()

        assert get_status(trials, store).running == [trials[0]]
        assert execute(trials[0], str(store.path), None).status == "elsewhere"
        outcomes = run_local(trials, store, None)
        assert [next(outcomes).trial for _ in range(3)] == trials[1:]
        monkeypatch.setattr(
            run_module, "time", SimpleNamespace(sleep=end_the_other)
        )  # while it is waited for
        last = next(outcomes)
    assert (last.trial, last.status) == (trials[0], "done")
    assert not lock.exists()


def test_run_local_fails_only_trial_whose_process_is_killed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, store = tiny_trials(tmp_path), Store(tmp_path / "store")
    whole = run_module._pool

    def pool(left: list, jobs: int, options: dict):
        for trial in left:
            if trial == trials[1]:
                lock = store.path / "locks" / f"{trial.key}.lock"
                lock.touch()  # what a killed process leaves
                raise BrokenExecutor
            yield from whole([trial], 1, options)

    monkeypatch.setattr(run_module, "_pool", pool)
    outcomes = {outcome.trial.key: outcome for outcome in run_local(trials, store, None)}
    assert [outcomes[trial.key].status for trial in trials] == ["done", "failed", "done", "done"]
    assert (
        store.record(trials[1].key).error
        == "its process was killed, perhaps because it ran out of memory; free memory or lower --jobs"
    )


def test_execute_in_threads_equals_execute_in_sequence(tmp_path: Path) -> None:
    trials = tiny_trials(tmp_path)
    in_sequence, in_threads = tmp_path / "sequence", tmp_path / "threads"
    for trial in trials:
        execute(trial, str(in_sequence), None)
    threads = [threading.Thread(target=execute, args=(trial, str(in_threads), None)) for trial in trials]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for trial in trials:
        one, other = (Store(path).record(trial.key) for path in (in_sequence, in_threads))
        assert one.curves == other.curves


def test_run_local_restarts_pool_that_died_before_any_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, store, asked = tiny_trials(tmp_path), Store(tmp_path / "store"), []

    def pool(left, jobs, options):
        asked.append(len(left))
        if len(asked) == 1:
            raise run_module.BrokenExecutor
        yield from (Outcome(trial, "done") for trial in left)

    monkeypatch.setattr(run_module, "_pool", pool)
    assert [outcome.trial for outcome in run_local(trials, store, None, jobs=2)] == trials
    assert asked == [4, 1, 3]


def test_record_failure_removes_abandoned_lock(tmp_path: Path) -> None:
    trial, store = tiny_trials(tmp_path)[0], Store(tmp_path / "store")
    lock = store.path / "locks" / f"{trial.key}.lock"
    with store.claimed(trial.key):
        pass
    lock.touch()  # what a killed process leaves
    record = record_failure(trial, "why", store)
    assert isinstance(record, TrialRecord)
    assert not lock.exists()
    assert record.finished
    assert store.record(trial.key) == record


def test_record_failure_keeps_record_of_another_run(tmp_path: Path) -> None:
    trial, store = tiny_trials(tmp_path)[0], Store(tmp_path / "store")
    done = TrialRecord(
        spec=trial.spec, label=trial.label, experiment=trial.experiment, protocol=trial.protocol, accuracy=0.9
    )
    store.save(done)
    assert record_failure(trial, "why", store) == done
    assert store.record(trial.key) == done


@pytest.mark.parametrize("name", ["locks", "checkpoints", "records"])
def test_run_local_raises_where_store_cannot_be_written(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "store")
    store.path.mkdir()
    (store.path / name).touch()
    with pytest.raises(FileError, match=f"store/{name} is a file; expected a folder"):
        list(run_local(tiny_trials(tmp_path), store, None, jobs=1))
    assert not list(store.path.glob("records/*"))
