"""Records from files: older ones are read, damaged ones are reported."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.bench import tiny_trials

from scarce.bench.spec.trial import TrialSpec
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
        spec=TrialSpec(**of),
        label="nn",
        experiment="tiny",
        protocol="shortened",
        accuracy=0.5,
        priors={"values": [0.1, 0.9]},
    )
    content = record.to_dict() | changes
    path = folder / "records" / f"{record.key}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_load_accepts_records_without_later_fields(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = json.loads(path.read_text())
    del content["finished"], content["n_examples"]
    path.write_text(json.dumps(content))
    (record,) = Store(tmp_path).records()
    assert (record.accuracy, record.finished, record.n_examples) == (0.5, "", None)
    for name, message in (("more", "there is no field more"), ("label", "label: expected a string")):
        path.write_text(json.dumps(content | {name: 1}))
        with pytest.raises(FileError, match=message):
            TrialRecord.load(path)
    del content["label"]
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match="the field 'label' is missing"):
        TrialRecord.load(path)
    path.write_text(json.dumps(content | {"format": "scarce-trial-1"}))
    with pytest.raises(FileError, match="format is 'scarce-trial-1', expected 'scarce-trial-2'"):
        TrialRecord.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spec": None}, "spec: expected an object, got None"),
        ({"spec": {}}, "the field 'spec.data' is missing"),
        ({"spec": SPEC | {"seed": 1}}, "its key belongs to another spec"),
        ({"spec": SPEC | {"seed": "x"}}, "spec.seed: expected a whole number"),
        (
            {"spec": SPEC | {"kind": "other"}},
            "spec.kind: expected 'accuracy', 'priors' or 'classifiers'",
        ),
        ({"key": "0123456789abcdef"}, "its key belongs to another spec"),
        ({"accuracy": "0.5"}, "accuracy: expected a number"),
        ({"accuracy": float("nan")}, "accuracy: expected a finite number"),
        ({"accuracy": None}, "the trial is done, but has no result"),
        ({"seconds": None}, "seconds: expected a number"),
        ({"curves": None}, "curves: expected an object"),
        ({"curves": "abc"}, "curves: expected an object"),
        ({"curves": {"loss": "abc"}}, "curves.loss: expected a list, got 'abc'"),
        ({"selection": {"scel": [0.5, "x"]}}, "selection.scel.1: expected a number"),
        ({"priors": {"values": [0.5, "x"]}}, "priors.values.1: expected a number"),
        ({"priors": {"values": [None], "true": [0.1]}}, "priors.values.0: expected a number"),
        ({"priors": {"values": [0.5], "true": [0.1, 0.9]}}, "priors: got 1 values for 2 classes"),
        ({"priors": {"true": [0.1, 0.9]}}, "priors: got 0 values for 2 classes"),
        ({"accuracy": 7.0}, "accuracy: expected a number less than or equal to 1, got 7.0"),
        ({"accuracy": -1.0}, "accuracy: expected a number greater than or equal to 0, got -1.0"),
        ({"status": "foo"}, "status: expected 'done' or 'failed'"),
        ({"finished": 5}, "finished: expected a string"),
    ],
)
def test_store_warns_of_record_with_wrong_content(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, **changes)
    expected = rf"^{re.escape(str(path))}.*{re.escape(message)}.* Its trial counts as not run\.$"
    with pytest.warns(UserWarning, match=expected):
        assert Store(tmp_path).records() == []


def test_store_warns_of_prior_record_without_priors(tmp_path: Path) -> None:
    written(tmp_path, SPEC | {"kind": "priors"}, priors={"source": "best-bin"}, accuracy=None)
    with pytest.warns(UserWarning, match="the trial is done, but has no result"):
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
def test_store_warns_of_unreadable_record_file(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    path = written(tmp_path)
    damage(path)
    with pytest.warns(UserWarning, match=f"{path.name}.* Its trial counts as not run"):
        assert Store(tmp_path).records() == []


def test_record_writes_infinite_numbers_as_null(tmp_path: Path) -> None:
    trial = tiny_trials(tmp_path)[0]
    curves = {"loss": [1.0, float("nan"), float("-inf")]}
    record = TrialRecord(
        spec=trial.spec, label="a", experiment="b", protocol="paper", accuracy=0.5, curves=curves
    )
    record.save(tmp_path / "k.json")
    assert TrialRecord.load(tmp_path / "k.json").curves == {"loss": [1.0, None, None]}
