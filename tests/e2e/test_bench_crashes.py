"""Killed worker processes: only the trial at fault fails."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.bench import tiny_trials

from scarce.bench.runners import local as run_module
from scarce.bench.runners.local import run_local
from scarce.bench.trials.store import Store


def light(trial):
    """A trial for processes that do not import everything that trials need."""
    names = ("spec", "label", "experiment", "protocol")
    return SimpleNamespace(key=trial.key, **{name: getattr(trial, name) for name in names})


def test_run_local_with_two_jobs_runs_single_trial_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(trial, **_):
        return SimpleNamespace(trial=trial, status=os.getpid())

    monkeypatch.setattr(run_module, "execute", execute)
    (outcome,) = run_local([light(tiny_trials(tmp_path)[0])], Store(tmp_path / "store"), None, jobs=2)
    assert outcome.status != os.getpid()


def test_run_local_fails_only_trial_at_fault_when_processes_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, store = [light(trial) for trial in tiny_trials(tmp_path)[:3]], Store(tmp_path / "store")
    guilty, other, _ = (trial.key for trial in trials)
    folder, alone = store.path, tmp_path / "alone"

    def execute(trial, **_):
        from helpers.processes import wait_for

        from scarce._io.locks import held, is_held

        with held(folder / "locks" / f"{trial.key}.lock"):
            if trial.key == guilty:
                if not alone.exists():
                    wait_for(lambda: is_held(folder / "locks" / f"{other}.lock"), "the other trial")
                alone.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if trial.key == other:  # the executor ends this process, until the guilty one has failed
                wait_for((folder / "records" / f"{guilty}.json").exists, "the record of the failure")
        return SimpleNamespace(trial=trial, status="done")

    monkeypatch.setattr(run_module, "execute", execute)
    outcomes = {outcome.trial.key: outcome for outcome in run_local(trials, store, None, jobs=2)}
    assert [outcomes[trial.key].status for trial in trials] == ["failed", "done", "done"]
    assert [record.key for record in store.records()] == [guilty]
    assert list((folder / "locks").glob("*.lock")) == []
