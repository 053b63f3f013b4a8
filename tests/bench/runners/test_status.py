"""The status of an experiment: what is done, and how long the rest takes."""

from pathlib import Path

from helpers.bench import tiny_trials

from scarce.bench.runners.status import get_status
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store


def test_status_counts_trials_and_estimates_time_left(tmp_path: Path) -> None:
    trials, store = tiny_trials(tmp_path), Store(tmp_path / "store")
    assert get_status(trials, store).seconds_left() is None
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
    status = get_status(trials, store)
    assert (len(status.done), status.pending) == (2, trials[2:])
    assert status.seconds_left() == 30.0
