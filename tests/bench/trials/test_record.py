"""Records from elsewhere: old ones are read, damaged ones are told of, and folders of trials are known as such."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.bench_experiments import TINY, trials_of

from scarce.bench.runners.local import execute
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials.execution import chosen_rows, load_data, run_trial
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.errors import FileError

SPEC = {
    "data": "digits",
    "n_train": 9,
    "setting": "uniform",
    "method": "nn",
    "model": "linear",
    "seed": 0,
    "recipe": {},
}


def written(folder: Path, of: dict[str, Any] = SPEC, **changes: Any) -> Path:
    """The file of a record in which something was changed by hand."""
    record = TrialRecord(
        spec=TrialSpec(**of), label="nn", experiment="tiny", protocol="shortened", accuracy=0.5
    )
    content = record.to_dict() | changes
    path = folder / "records" / f"{record.key}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_records_without_what_was_added_later_are_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = json.loads(path.read_text())
    del content["finished"], content["n_examples"]
    path.write_text(json.dumps(content))
    (record,) = Store(tmp_path).records()
    assert (record.accuracy, record.finished, record.n_examples) == (0.5, "", None)
    for name, message in (("more", "more: Extra inputs"), ("label", "label: Input should be")):
        path.write_text(json.dumps(content | {name: 1}))
        with pytest.raises(FileError, match=message):
            TrialRecord.load(path)
    del content["label"]
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match="label: Field required"):
        TrialRecord.load(path)
    path.write_text(json.dumps(content | {"format": "scarce-trial-1"}))
    with pytest.raises(FileError, match="format is 'scarce-trial-1', expected 'scarce-trial-2'"):
        TrialRecord.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spec": None}, "spec: Input should be a valid dictionary"),
        ({"spec": {}}, "spec.data: Field required"),
        ({"spec": SPEC | {"seed": 1}}, "its spec is that of another trial"),
        ({"spec": SPEC | {"seed": "x"}}, "spec.seed: Input should be a valid integer"),
        (
            {"spec": SPEC | {"kind": "other"}},
            "spec.kind: Input should be 'accuracy', 'priors' or 'classifiers'",
        ),
        ({"key": "0123456789abcdef"}, "its spec is that of another trial"),
        ({"accuracy": "0.5"}, "accuracy: Input should be a valid number"),
        ({"accuracy": float("nan")}, "accuracy: Input should be a finite number"),
        ({"accuracy": None}, "its trial is done, but has no result"),
        ({"seconds": None}, "seconds: Input should be a valid number"),
        ({"curves": None}, "curves: Input should be a valid dictionary"),
        ({"curves": "abc"}, "curves: Input should be a valid dictionary"),
        ({"curves": {"loss": "abc"}}, "curves.loss: Input should be a valid list"),
        ({"selection": {"scel": [0.5, "x"]}}, "selection.scel.1: Input should be a valid number"),
        ({"priors": {"values": [0.5, "x"]}}, "priors.values.1: Input should be a valid number"),
        ({"priors": {"values": [None], "true": [0.1]}}, "priors.values.0: Input should be a valid number"),
        ({"priors": {"values": [0.5], "true": [0.1, 0.9]}}, "it holds 1 priors for 2 classes"),
        ({"priors": {"true": [0.1, 0.9]}}, "it holds 0 priors for 2 classes"),
        ({"accuracy": 7.0}, "its accuracy is 7, but should be a fraction"),
        ({"accuracy": -1.0}, "its accuracy is -1, but should be a fraction"),
        ({"status": "foo"}, "status: Input should be 'done' or 'failed'"),
        ({"finished": 5}, "finished: Input should be a valid string"),
    ],
)
def test_what_was_changed_by_hand_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = written(tmp_path, **changes)
    expected = rf"^{re.escape(str(path))}.*{re.escape(message)}.* Its trial counts as not run\.$"
    with pytest.warns(UserWarning, match=expected):
        assert Store(tmp_path).records() == []


def test_a_record_of_priors_without_any_is_told(tmp_path: Path) -> None:
    written(tmp_path, SPEC | {"kind": "priors"}, priors={"source": "best-bin"}, accuracy=None)
    with pytest.warns(UserWarning, match="its trial is done, but has no result"):
        assert Store(tmp_path).records() == []


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [lambda path: path.write_text("[" * 100_000), _loop, _nothing, _folder],
    ids=["deep", "loop", "nothing", "folder"],
)
def test_files_that_are_none_are_told(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    path = written(tmp_path)
    damage(path)
    with pytest.warns(UserWarning, match=f"{path.name}.* Its trial counts as not run"):
        assert Store(tmp_path).records() == []


@pytest.mark.parametrize("folder", ["records", "locks", "checkpoints"])
def test_a_folder_in_which_the_first_trial_is_run_is_one_of_trials(tmp_path: Path, folder: str) -> None:
    with pytest.raises(FileError, match="holds no records of trials"):
        Store(tmp_path).require()
    (tmp_path / folder).mkdir()
    assert Store(tmp_path).require().records() == []


def test_a_trial_tells_when_it_ended_and_how_many_examples_it_used(tmp_path: Path) -> None:
    text = TINY.replace("epochs = 3", "epochs = 1") + "n_train = 500\nimbalance = 4"
    trial = trials_of(tmp_path, text)[-1]
    store = Store(tmp_path / "store")
    execute(trial, str(store.path), None)
    record = store.record(trial.key)
    y = load_data("digits", None).y_train
    thinned = np.bincount(y[chosen_rows(y, 500, 4.0, trial.spec.seed)])
    assert record.n_examples == thinned.sum() < 400
    assert record.priors.true == pytest.approx(thinned / thinned.sum())
    assert record.finished[:2] == "20"
    assert record.finished.endswith("+00:00")


def test_estimated_priors_stand_beside_the_true_ones_of_the_examples(tmp_path: Path) -> None:
    text = TINY.replace('["scarce", "nn"]', '"best-bin"').replace("epochs = 3", "epochs = 1")
    text = 'kind = "priors"\n' + text.replace('"uniform"', '"scar-a"') + "n_train = 300"
    trial = trials_of(tmp_path, text)[0]
    record = run_trial(trial, tmp_path / "checkpoint")
    assert record.status == "done", record.error
    y = load_data("digits", None).y_train
    counts = np.bincount(y[chosen_rows(y, 300, None, trial.spec.seed)])
    assert record.priors.true == pytest.approx(counts / 300)
    assert record.n_examples == 300
    assert len(record.priors.values) == 10
