"""``scarce evaluate``: the estimated accuracy, alarms, priors and label noise."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command_line import RunCommand, RunExpectingError
from helpers.csv_files import write_csv

import scarce


@pytest.fixture(scope="module")
def model(digits_dir: Path) -> Path:
    X, y = np.load(digits_dir / "train.npy"), np.load(digits_dir / "train-truth.npy")
    classifier = scarce.ScarceClassifier(
        "cc", labels="ordinary", module="linear", epochs=30, learning_rate=0.03
    )
    classifier.fit(X, y).save(digits_dir / "model")
    return digits_dir / "model"


@pytest.fixture
def facts(run: RunCommand, digits_dir: Path, model: Path) -> Callable[..., dict[str, Any]]:
    def facts(labels: str, *more: object, part: str = "test") -> dict[str, Any]:
        result = run(
            "evaluate",
            model,
            digits_dir / f"{part}.npy",
            "--labels",
            digits_dir / f"{part}-{labels}.npz",
            "--json",
            *more,
        )
        assert result.code == 0, result.err
        found: dict[str, Any] = json.loads(result.out)
        return found

    return facts


def alarms(found: dict[str, Any]) -> list[str]:
    return [alarm["name"] for alarm in found["alarms"]]


def test_evaluate_estimates_accuracy_of_good_model_without_alarms(digits_dir: Path, facts: Any) -> None:
    found = facts("uniform", "--truth", digits_dir / "test-truth.npy")
    assert found["within_interval"]
    assert alarms(found) == []
    assert (
        found["priors_from"] == "given"
    )  # the frequencies of true classes, with which this model was trained
    assert found["if_labels_are_wrong"]["high"] >= found["accuracy"]


def test_evaluate_on_training_rows_raises_an_alarm(facts: Any) -> None:
    assert "trained-on-these" in alarms(facts("uniform", part="train"))


def test_evaluate_corrects_for_wrong_answers(digits_dir: Path, facts: Any) -> None:
    priors = "--priors", "answers"  # else those with which the model was trained
    found = facts("answers", *priors, "--truth", digits_dir / "test-truth.npy")
    truth = found["true_accuracy"]
    blind = facts("answers", *priors, "--label-noise", "0")
    given = facts("answers", *priors, "--label-noise", "0.06,0.04")
    assert blind["accuracy"] < given["accuracy"]
    for one in (found, given):
        assert one["low"] < truth < one["high"]
    assert (given["false_negative_rate"], given["false_positive_rate"]) == (0.06, 0.04)
    assert found["errors_from"] == "learned"


def test_evaluate_detects_wrong_labels_and_corrects_known_rate(digits_dir: Path, facts: Any) -> None:
    found = facts("wrong", "--truth", digits_dir / "test-truth.npy")
    assert found["high"] < found["true_accuracy"]
    assert "wrong-labels" in alarms(found)
    bound = found["if_labels_are_wrong"]
    assert bound["low"] < found["true_accuracy"] <= bound["high"]
    corrected = facts("wrong", "--label-noise", "0.05")
    assert corrected["low"] < found["true_accuracy"] < corrected["high"]
    assert "wrong-labels" not in alarms(corrected)


def test_evaluate_accepts_priors_by_name_list_and_file(
    digits_dir: Path, tmp_path: Path, facts: Any, run: RunCommand
) -> None:
    assert facts("uniform", "--priors", "uniform")["classes"][3]["prior"] == {
        "value": 0.1,
        "low": 0.1,
        "high": 0.1,
    }
    some = ",".join(f"{name}={0.55 if name == 3 else 0.05}" for name in range(10))
    assert facts("uniform", "--priors", some)["classes"][3]["prior"]["value"] == pytest.approx(0.55)
    command = [
        "priors",
        digits_dir / "test.npy",
        "--labels",
        digits_dir / "test-uniform.npz",
        "--out",
        tmp_path / "priors.json",
    ]
    assert run(*command).code == 0
    estimated = facts("uniform", "--priors", tmp_path / "priors.json")
    assert estimated["priors_from"] == "given"
    assert estimated["classes"][3]["prior"]["low"] < estimated["classes"][3]["prior"]["high"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--label-noise", "much"],
            "--label-noise 'much' is not understood; expected a number such as 0.05, or two",
        ),
        (["--label-noise", "0.1,0.1"], "has two numbers, which are for answers; these labels are exclusions"),
        (["--label-noise", "1.5"], "the error rates are 1.5 and 0.0; expected numbers of at least 0"),
        (
            ["--label-noise", "0.3"],
            "the error rate is 0.3, but a class is excluded by only 0.1 of the examples",
        ),
        (["--priors", "answers"], "priors='answers' needs labels made from answers"),
        (["--priors", "0.5,0.6"], "priors has shape (2,); expected 10 numbers"),
        (["--priors", "luck"], "priors='luck' is unknown"),
    ],
)
def test_evaluate_rejects_wrong_options(
    digits_dir: Path, model: Path, run_expecting_error: RunExpectingError, options: list[str], message: str
) -> None:
    command = ["evaluate", model, digits_dir / "test.npy", "--labels", digits_dir / "test-uniform.npz"]
    assert message in run_expecting_error(*command, *options)


@pytest.mark.parametrize("option", [["--priors", "uniform"], ["--label-noise", "0.1"]])
def test_evaluate_rejects_label_options_without_labels(
    digits_dir: Path, model: Path, run_expecting_error: RunExpectingError, option: list[str]
) -> None:
    command = ["evaluate", model, digits_dir / "test.npy", "--truth", digits_dir / "test-truth.npy"]
    assert (
        "--priors and --label-noise are for complementary labels; pass --labels FILE"
        in run_expecting_error(*command, *option)
    )


def test_evaluate_compares_classes_as_text(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    truth = sorted(line.split(",") for line in (dataset_dir / "truth.csv").read_text().split()[1:])
    np.save(tmp_path / "text.npy", [name for _, name in truth])
    np.save(tmp_path / "numbers.npy", [int(name) for _, name in truth])
    facts = [
        run("evaluate", dataset_dir / "model", dataset_dir / "features.csv", "--truth", path, "--json").out
        for path in (tmp_path / "text.npy", tmp_path / "numbers.npy", dataset_dir / "truth.csv")
    ]
    assert facts[0] == facts[1] == facts[2]


def test_evaluate_names_classes_nobody_excludes(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    rows = [[f"d{row:03d}", "no" if row % 3 else "", "", "no" if row % 3 == 0 else ""] for row in range(90)]
    write_csv(tmp_path / "labels.csv", ["example_id", "0", "1", "2"], rows)
    command = [
        "evaluate",
        dataset_dir / "model",
        dataset_dir / "features.csv",
        "--labels",
        tmp_path / "labels.csv",
    ]
    text = " ".join(run(*command).out.split())  # lines are broken to fit a terminal
    assert "of the predictions are of classes that no example excludes (1): errors in them cannot be" in text
    assert json.loads(run(*command, "--json").out)["unseen"] == ["1"]


def test_evaluate_joins_labels_and_truth_by_id(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    lines = (dataset_dir / "truth.csv").read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join(lines[:41]))
    command = [
        "evaluate",
        dataset_dir / "model",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
    ]
    for join in ("inner", "left"):
        facts = json.loads(run(*command, "--truth", tmp_path / "some.csv", "--join", join, "--json").out)
        assert (facts["n_examples"], facts["n_true"]) == (90, 40)
