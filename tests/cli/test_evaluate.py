"""How good is it? What `train` and `evaluate` say of a model, when they raise alarms, and what they take on trust."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import scarce
from scarce.simulate import ask, from_transition, uniform, uniform_transition, with_errors

Run = Callable[..., Any]
LINEAR = ["--method", "cc", "--module", "linear", "--epochs", "30", "--learning-rate", "0.03"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digits: train.npy, test.npy, test-truth.npy, and labels of both parts that arise in several ways."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    wrong = with_errors(uniform_transition(10), 0.05)
    for part, rows, seed in (("train", order[:900], 0), ("test", order[900:], 1)):
        np.save(folder / f"{part}.npy", X[rows])
        np.save(folder / f"{part}-truth.npy", y[rows])
        uniform(y[rows], seed=seed).save(folder / f"{part}-uniform.npz")
        from_transition(y[rows], wrong, seed=seed).save(folder / f"{part}-wrong.npz")
        ask(y[rows], questions=3, false_negative_rate=0.06, false_positive_rate=0.04, seed=seed).save(
            folder / f"{part}-answers.npz"
        )
    return folder


@pytest.fixture(scope="module")
def model(files: Path) -> Path:
    X, y = np.load(files / "train.npy"), np.load(files / "train-truth.npy")
    classifier = scarce.ScarceClassifier(
        "cc", labels="ordinary", module="linear", epochs=30, learning_rate=0.03
    )
    classifier.fit(X, y).save(files / "model")
    return files / "model"


@pytest.fixture
def facts(run: Run, files: Path, model: Path) -> Callable[..., dict[str, Any]]:
    def facts(labels: str, *more: object, part: str = "test") -> dict[str, Any]:
        told = run(
            "evaluate",
            model,
            files / f"{part}.npy",
            "--labels",
            files / f"{part}-{labels}.npz",
            "--json",
            *more,
        )
        assert told.code == 0, told.err
        found: dict[str, Any] = json.loads(told.out)
        return found

    return facts


def alarms(found: dict[str, Any]) -> list[str]:
    return [alarm["name"] for alarm in found["alarms"]]


@pytest.mark.parametrize("options", [LINEAR, ["--module", "linear"]], ids=["network", "stack"])
def test_train_says_how_good_the_model_is(files: Path, tmp_path: Path, run: Run, options: list[str]) -> None:
    command = ["train", files / "train.npy", "--labels", files / "train-uniform.npz", "--out", tmp_path / "m"]
    told = run(*command, *options)
    assert told.code == 0, told.err
    _, good = told.out.split(f"saved the model to {tmp_path / 'm'}\n")
    assert "how good it is, by" in good
    low, high = map(float, good.split("95% interval ")[1].split(")")[0].split(" to "))
    truth = (
        scarce.load(tmp_path / "m").predict(np.load(files / "test.npy")) == np.load(files / "test-truth.npy")
    ).mean()
    assert low - 0.03 < truth < high + 0.1  # the copies have seen three quarters of the rows, and know less
    assert "class  precision" in good
    assert max(map(len, good.splitlines())) <= 100


def test_train_without_an_estimate_ends_with_the_model(files: Path, tmp_path: Path, run: Run) -> None:
    command = ["train", files / "train.npy", "--labels", files / "train-uniform.npz", "--out", tmp_path / "m"]
    assert run(*command, *LINEAR, "--no-estimate").out.endswith(f"saved the model to {tmp_path / 'm'}\n")


def test_train_tells_where_there_are_too_few_examples_to_hold_out(tmp_path: Path, run: Run) -> None:
    np.save(tmp_path / "few.npy", np.eye(6, 4))
    uniform(np.arange(6) % 3, seed=0).save(tmp_path / "few.npz")
    command = ["train", tmp_path / "few.npy", "--labels", tmp_path / "few.npz", "--out", tmp_path / "m"]
    told = run(*command, "--method", "cc", "--epochs", "1")
    assert told.code == 0
    assert "the accuracy is not estimated: 6 examples are too few to hold some out" in told.out


def test_train_interrupted_while_it_estimates_has_saved_the_model(files: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "scarce",
        "train",
        files / "train.npy",
        "--labels",
        files / "train-uniform.npz",
    ]
    command += ["--out", tmp_path / "m", "--method", "cc", "--epochs", "2000"]
    with subprocess.Popen(
        [*map(str, command)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("estimating the accuracy"):
                break
        time.sleep(0.2)  # it may be anywhere in the four trainings; thousands of epochs are not over yet
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err == "interrupted: the model is saved, its accuracy is not estimated\n"
    assert scarce.load(tmp_path / "m").predict(np.load(files / "test.npy")).shape == (897,)
    assert not (tmp_path / "m.checkpoint").exists()


def test_evaluate_estimates_the_accuracy_of_a_good_model_without_alarms(files: Path, facts: Any) -> None:
    found = facts("uniform", "--truth", files / "test-truth.npy")
    assert found["within_interval"]
    assert alarms(found) == []
    assert (
        found["priors_from"] == "given"
    )  # the frequencies of true classes, with which this model was trained
    assert found["if_labels_are_wrong"]["high"] >= found["accuracy"]


def test_evaluate_on_training_rows_raises_an_alarm(facts: Any) -> None:
    assert "trained-on-these" in alarms(facts("uniform", part="train"))


def test_evaluate_corrects_for_errors_of_answers(files: Path, facts: Any) -> None:
    priors = "--priors", "answers"  # else those with which the model was trained
    found = facts("answers", *priors, "--truth", files / "test-truth.npy")
    truth = found["true_accuracy"]
    blind = facts("answers", *priors, "--label-noise", "0")
    given = facts("answers", *priors, "--label-noise", "0.06,0.04")
    assert blind["accuracy"] < given["accuracy"]
    for one in (found, given):
        assert one["low"] < truth < one["high"]
    assert (given["false_negative_rate"], given["false_positive_rate"]) == (0.06, 0.04)
    assert found["errors_from"] == "learned"


def test_evaluate_notices_wrong_labels_and_corrects_known_ones(files: Path, facts: Any) -> None:
    found = facts("wrong", "--truth", files / "test-truth.npy")
    assert found["high"] < found["true_accuracy"]
    assert "wrong-labels" in alarms(found)
    bound = found["if_labels_are_wrong"]
    assert bound["low"] < found["true_accuracy"] <= bound["high"]
    corrected = facts("wrong", "--label-noise", "0.05")
    assert corrected["low"] < found["true_accuracy"] < corrected["high"]
    assert "wrong-labels" not in alarms(corrected)


def test_evaluate_takes_priors(files: Path, tmp_path: Path, facts: Any, run: Run) -> None:
    assert facts("uniform", "--priors", "uniform")["classes"][3]["prior"] == {
        "value": 0.1,
        "low": 0.1,
        "high": 0.1,
    }
    some = ",".join(f"{name}={0.55 if name == 3 else 0.05}" for name in range(10))
    assert facts("uniform", "--priors", some)["classes"][3]["prior"]["value"] == pytest.approx(0.55)
    command = [
        "priors",
        files / "test.npy",
        "--labels",
        files / "test-uniform.npz",
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
def test_evaluate_refuses_what_it_does_not_understand(
    files: Path, model: Path, refused: Callable[..., str], options: list[str], message: str
) -> None:
    command = ["evaluate", model, files / "test.npy", "--labels", files / "test-uniform.npz"]
    assert message in refused(*command, *options)


@pytest.mark.parametrize("option", [["--priors", "uniform"], ["--label-noise", "0.1"]])
def test_evaluate_refuses_options_that_only_complementary_labels_need(
    files: Path, model: Path, refused: Callable[..., str], option: list[str]
) -> None:
    command = ["evaluate", model, files / "test.npy", "--truth", files / "test-truth.npy"]
    assert "--priors and --label-noise are for complementary labels; pass --labels FILE" in refused(
        *command, *option
    )


def test_train_keeps_a_model_whose_accuracy_cannot_be_estimated(tmp_path: Path, run: Run) -> None:
    """All but one of the true classes are the same, so that some copies get one class only."""
    np.save(tmp_path / "rows.npy", np.arange(40.0).reshape(20, 2))
    (tmp_path / "truth.csv").write_text("label\n" + "cat\n" * 19 + "dog\n")
    command = [
        "train",
        tmp_path / "rows.npy",
        "--labels",
        tmp_path / "truth.csv",
        "--ordinary",
        "--out",
        tmp_path / "m",
    ]
    told = run(*command, "--module", "linear", "--epochs", "2")
    assert told.code == 0, told.err
    assert "the accuracy is not estimated: y holds only one class, cat" in told.out
    assert scarce.load(tmp_path / "m").classes_.tolist() == ["cat", "dog"]
