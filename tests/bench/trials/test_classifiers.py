"""Experiments that compare classifiers, run by the command line."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.bench import (
    CLASSIFIERS,
    IMAGES,
    fill_store,
    stored_results,
    tiny_trials,
    write_experiment,
)
from scipy.io import savemat

from scarce import ScarceClassifier
from scarce.bench.spec.experiment import load_experiment
from scarce.bench.trials.execution import run_trial
from scarce.cli.main import main
from scarce.datasets import load_dataset
from scarce.simulate import uniform


def lost(folder: Path) -> Path:
    """Write easy candidate sets of the size of Lost: every class has a column, and one other class is a candidate too."""
    target = np.eye(16)[np.arange(1122) % 16]
    other = np.eye(16)[np.random.default_rng(0).integers(16, size=1122)]
    file = io.BytesIO()
    savemat(file, {"data": target, "target": target.T, "partial_target": np.maximum(target, other).T})
    (folder / "partial-label").mkdir()
    (folder / "partial-label" / "lost.mat").write_bytes(file.getvalue())
    return folder


def test_classifier_experiment_runs_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, store = str(write_experiment(tmp_path, CLASSIFIERS)), ["--store", str(tmp_path / "store")]
    assert main(["bench", "run", file, *store, "--jobs", "1"]) == 0
    assert "8 done, 0 failed" in capsys.readouterr().out
    assert main(["bench", "status", file, *store]) == 0
    assert "8 trials: 8 done" in capsys.readouterr().out
    assert main(["bench", "report", file, *store, "--terminal"]) == 0
    text = capsys.readouterr().out
    assert "The paper does not have this experiment." in text
    assert "on the 30 % of the rows that the seed holds out" in text
    assert "Training examples: 1,258 of digits." in text
    assert "epochs" not in text
    assert main(["bench", "report", file, *store]) == 0
    report = tmp_path / "store" / "report"
    assert "## digits\n\n| method | uniform | scar |" in (report / "report.md").read_text()
    assert "Model" not in (report / "report.tex").read_text()
    assert "digits" in (report / "report.html").read_text()
    assert (report / "figures" / "comparison.png").is_file() or list((report / "figures").glob("*digits.png"))
    records = [json.loads(path.read_text()) for path in (tmp_path / "store" / "records").iterdir()]
    assert {record["n_examples"] for record in records} == {1258}
    assert min(record["accuracy"] for record in records if record["spec"]["setting"] == "scar") > 0.5


def test_classifier_experiment_learns_from_real_candidate_sets(tmp_path: Path) -> None:
    text = CLASSIFIERS.replace('"digits"', '"lost"').replace("70/30", "10-fold")
    text = text[: text.index("settings")] + 'settings = "own"\nseeds = [9]\nmethods = ["pl-knn", '
    row = '{ label = "cc linear", method = "cc", params = { module = "linear" } }, '
    file = write_experiment(
        tmp_path, text + row + '{ label = "default", method = "auto", params = { module = "linear" } }]'
    )
    arguments = ["--data-dir", str(lost(tmp_path)), "--store", str(tmp_path / "store"), "--jobs", "1"]
    assert main(["bench", "run", str(file), *arguments]) == 0
    results = stored_results(load_experiment(file), fill_store(tmp_path / "store", []))
    found = dict(zip(results.done.label, results.done.record, strict=True))
    assert found["pl-knn"].accuracy == 1.0
    assert (found["cc linear"].accuracy or 0) > 0.9
    assert found["default"].accuracy == 1.0
    assert "candidates" in (found["default"].reason or "")
    assert found["cc linear"].reason is None
    assert found["cc linear"].n_examples == 1122 - 112


def test_classifier_on_images_learns_from_true_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = str(write_experiment(tmp_path, IMAGES)), ["--store", str(tmp_path / "store")]
    assert main(["bench", "run", file, *store, "--jobs", "1"]) == 0
    assert main(["bench", "report", file, *store, "--terminal"]) == 0
    text = capsys.readouterr().out
    assert "on the whole standard test set" in text
    assert "Training examples: 200 of digits, 1,000 of digits." in text
    records = [json.loads(path.read_text()) for path in (tmp_path / "store" / "records").iterdir()]
    accuracies = {record["n_examples"]: record["accuracy"] for record in records}
    assert accuracies.keys() == {200, 1000}
    assert accuracies[1000] > 0.9


def test_classifier_on_images_is_that_of_a_user(tmp_path: Path) -> None:
    settings = IMAGES.splitlines()[8]
    trials = tiny_trials(
        tmp_path, IMAGES.replace(settings, 'settings = "uniform"').replace("[200, 1000]", "200")
    )
    record = run_trial(trials[1])
    data = load_dataset("digits")
    rows = np.sort(np.random.default_rng(1).permutation(1198)[:200])
    classifier = ScarceClassifier("cc", "linear", epochs=40, learning_rate=0.03, random_state=1)
    classifier.fit(data.X_train[rows], uniform(data.y_train[rows], classes=10, seed=1))
    assert data.X_train.dtype == np.uint8
    assert record.accuracy == classifier.score(data.X_test, data.y_test)


def test_bench_run_names_missing_table_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    file = str(write_experiment(tmp_path, CLASSIFIERS.replace('"digits"', '"ecoli"')))
    store = ["--store", str(tmp_path / "store")]
    assert main(["bench", "run", file, *store, "--data-dir", str(tmp_path)]) == 2
    text = capsys.readouterr().err.strip()
    assert "expected the file tables/ecoli.arff" in text
    assert "\n" not in text
    assert main(["bench", "status", file, *store, "--data-dir", str(tmp_path)]) == 0
    assert "put tables/ecoli.arff into a folder and pass it as --data-dir" in capsys.readouterr().out
