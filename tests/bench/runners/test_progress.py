"""Progress of a run without a terminal."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.bench import tiny_trials

from scarce.bench.runners import _progress
from scarce.bench.runners._progress import TrialProgress
from scarce.bench.runners.local import Outcome


def test_trial_progress_prints_one_line_per_trial_without_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = tiny_trials(tmp_path)
    with TrialProgress(3, n_workers=2) as shown:
        monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: shown.start_time + 60))
        shown.update(Outcome(trials[0], "done", accuracy=0.9, seconds=60))
        shown.update(Outcome(trials[1], "failed", error="why"))
        shown.update(Outcome(trials[2], "unfinished", error="disk full"))
    assert [outcome.trial for outcome in shown.unfinished] == [trials[2]]
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == (
        "done: digits, uniform, scarce, linear, seed 0: 90.00 % in 1 min "
        "(1 done, 2 running, 0 left, 0 failed, about 2 min)"
    )
    assert second == (
        "failed: digits, uniform, nn, linear, seed 0: why (1 done, 1 running, 0 left, 1 failed, about 30 s)"
    )
    assert third == (
        "unfinished: digits, uniform, scarce, linear, seed 1: disk full "
        "(1 done, 0 running, 0 left, 1 failed, 1 unfinished)"
    )
