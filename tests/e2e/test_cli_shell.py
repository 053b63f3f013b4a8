"""The command as a shell runs it: its streams, its exit code, signals."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.csv_files import write_csv
from helpers.processes import ENVIRONMENT, SCARCE, ForkServer
from sklearn.datasets import load_digits

import scarce
from scarce.training.checkpoint import load_state

pytestmark = pytest.mark.early

Run = Callable[..., Any]
ONE_NETWORK = ("--method", "scarce")  # with a checkpoint
EPOCHS = 100


def test_commands_lead_from_true_classes_to_estimated_accuracy(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def done(*arguments: str) -> str:
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        return out

    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    for part, rows in (("train", range(1200)), ("test", range(1200, 1797))):
        header = ["id", *(f"px{column}" for column in range(64))]
        write_csv(tmp_path / f"{part}.csv", header, ([f"d{row}", *X[row].astype(int)] for row in rows))
        write_csv(
            tmp_path / f"{part}-truth.csv", ["id", "label"], ([f"d{row}", y[row]] for row in rows[::-1])
        )
        simulate = ("labels", "simulate", f"{part}-truth.csv", f"{part}-labels.csv")
        done(*simulate, "--process", "scar", "--set", "rates=0.45", "--seed", "3")

    assert "597 examples, 10 classes" in done("labels", "describe", "test-labels.csv")
    out = done("train", "train.csv", "--labels", "train-labels.csv", "--out", "model", *ONE_NETWORK)
    assert "priors: estimated by best-bin, shrunk towards uniform; raw estimates sum to" in out
    _, after = out.split("saved the model to model\n")
    assert "estimated accuracy, from held-out labels, in" in after
    interval = re.search(r"95% interval (0\.\d+) to (\d\.\d+)", after)
    assert interval is not None
    assert not (tmp_path / "model.checkpoint").exists()

    with (tmp_path / "test-truth.csv").open() as file:
        truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    predicted = list(csv.DictReader(done("predict", "model", "test.csv", "--all").splitlines()))
    assert [row["example_id"] for row in predicted] == [f"d{row}" for row in range(1200, 1797)]
    right = sum(row["class"] == truth[row["example_id"]] for row in predicted) / len(predicted)
    assert right > 0.85
    assert (
        float(interval[1]) < right < float(interval[2]) + 0.03
    )  # of classifiers that have seen three quarters of the examples
    for row in predicted:
        shares = {name[2:]: float(value) for name, value in row.items() if name.startswith("p_")}
        assert max(shares, key=shares.__getitem__) == row["class"]
        assert abs(sum(shares.values()) - 1) < 1e-4
        assert float(row["probability"]) == shares[row["class"]]

    options = ("--labels", "test-labels.csv", "--truth", "test-truth.csv", "--json")
    facts = json.loads(done("evaluate", "model", "test.csv", *options))
    assert facts["true_accuracy"] == right
    assert abs(facts["accuracy"] - right) < 4 * facts["standard_error"] < 0.1
    assert facts["low"] < facts["accuracy"] < facts["high"]


def long_training(folder: Path, out: Path) -> list[object]:
    files = ["train", folder / "features.csv", "--labels", folder / "labels.csv", "--out", out]
    return [*files, *ONE_NETWORK, "--epochs", EPOCHS, "--no-estimate"]


def test_killed_training_resumes_and_ends_with_same_weights(
    dataset_dir: Path, tmp_path: Path, run: Run, fork_server: ForkServer
) -> None:
    command, checkpoint = long_training(dataset_dir, tmp_path / "killed"), tmp_path / "killed.checkpoint"
    process = fork_server.start(*command, halt_after=10, once=checkpoint)
    process.wait_until_halted()
    process.send(signal.SIGKILL)
    assert process.wait().code == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    epoch = load_state(checkpoint)["epoch"]

    resumed, whole = run(*command), run(*long_training(dataset_dir, tmp_path / "whole"))
    assert [(result.code, result.err) for result in (resumed, whole)] == [(0, "")] * 2
    assert f"resuming after epoch {epoch}, from {checkpoint}\n" in resumed.out
    assert "resuming" not in whole.out
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("killed", "whole")]
    assert weights[0] == weights[1]
    assert not checkpoint.exists()


def test_interrupted_training_says_how_to_resume(
    dataset_dir: Path, tmp_path: Path, fork_server: ForkServer
) -> None:
    command, checkpoint = long_training(dataset_dir, tmp_path / "stopped"), tmp_path / "stopped.checkpoint"
    process = fork_server.start(*command, halt_after=10, once=checkpoint)
    process.wait_until_halted()
    process.send(signal.SIGINT)
    ended = process.wait()
    epoch = load_state(checkpoint)["epoch"]
    assert ended.code == 130
    assert ended.err == f"interrupted after epoch {epoch}; rerun the same command to resume\n"


def test_training_interrupted_while_estimating_has_saved_the_model(
    digits_dir: Path, tmp_path: Path, fork_server: ForkServer
) -> None:
    command = ["train", digits_dir / "train.npy", "--labels", digits_dir / "train-uniform.npz"]
    # Four steps per epoch: the process halts within the first of the four trainings of the estimate.
    process = fork_server.start(
        *command, "--out", tmp_path / "m", "--method", "cc", "--epochs", 2, halt_after=10
    )
    process.wait_until_halted()
    process.send(signal.SIGINT)
    ended = process.wait()
    assert ended.code == 130
    assert ended.err == "interrupted: the model is saved, but its accuracy is not estimated\n"
    assert scarce.load(tmp_path / "m").predict(np.load(digits_dir / "test.npy")).shape == (897,)
    assert not (tmp_path / "m.checkpoint").exists()


def test_closed_output_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*SCARCE, "labels", "processes"], env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert process.stderr == b""


def test_mistake_gives_one_line_and_exit_code_2(tmp_path: Path) -> None:
    process = subprocess.run(
        [*SCARCE, "predict", "nowhere", "nothing.csv"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "error: nowhere does not exist; check the path.\n"


def test_help_and_version_import_nothing_heavy() -> None:
    program = (
        "import sys; from scarce.cli.main import main\n"
        "for words in (['--help'], ['train', '--help'], ['--version']): assert main(words) == 0\n"
        "heavy = {'torch', 'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=ENVIRONMENT)
    assert (process.returncode, process.stderr) == (0, "")
    assert "scarce 0." in process.stdout
