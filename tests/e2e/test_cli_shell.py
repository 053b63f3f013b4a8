"""The command as a shell runs it: another process, its streams, its exit code, its death."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.csv_files import write_csv
from sklearn.datasets import load_digits

from scarce.errors import FileError
from scarce.training.checkpoint import load_state

pytestmark = pytest.mark.early
COMMAND = [sys.executable, "-m", "scarce"]
SCARCE = ("--method", "scarce")  # one network, with a checkpoint
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def shell(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120
    )


def done(folder: Path, *arguments: str) -> str:
    process = shell(folder, *arguments)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_from_true_classes_to_an_accuracy_without_them(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    for part, rows in (("train", range(1200)), ("test", range(1200, 1797))):
        header = ["id", *(f"px{place}" for place in range(64))]
        write_csv(tmp_path / f"{part}.csv", header, ([f"d{row}", *X[row].astype(int)] for row in rows))
        write_csv(
            tmp_path / f"{part}-truth.csv", ["id", "label"], ([f"d{row}", y[row]] for row in rows[::-1])
        )
        simulate = ("labels", "simulate", f"{part}-truth.csv", f"{part}-labels.csv")
        done(tmp_path, *simulate, "--process", "scar", "--set", "rates=0.45", "--seed", "3")

    assert "597 examples, 10 classes" in done(tmp_path, "labels", "describe", "test-labels.csv")
    out = done(tmp_path, "train", "train.csv", "--labels", "train-labels.csv", "--out", "model", *SCARCE)
    assert "priors: estimated by best-bin, drawn towards equal priors; raw estimates sum to" in out
    _, after = out.split("saved the model to model\n")
    assert "how good it is, by held-out labels, in" in after
    told = re.search(r"95% interval (0\.\d+) to (\d\.\d+)", after)
    assert told is not None
    assert not (tmp_path / "model.checkpoint").exists()

    with (tmp_path / "test-truth.csv").open() as file:
        truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    predicted = list(csv.DictReader(done(tmp_path, "predict", "model", "test.csv", "--all").splitlines()))
    assert [row["example_id"] for row in predicted] == [f"d{row}" for row in range(1200, 1797)]
    right = sum(row["class"] == truth[row["example_id"]] for row in predicted) / len(predicted)
    assert right > 0.85
    assert (
        float(told[1]) < right < float(told[2]) + 0.03
    )  # of classifiers that have seen three quarters of the examples
    for row in predicted:
        shares = {name[2:]: float(value) for name, value in row.items() if name.startswith("p_")}
        assert max(shares, key=shares.__getitem__) == row["class"]
        assert abs(sum(shares.values()) - 1) < 1e-4
        assert float(row["probability"]) == shares[row["class"]]

    options = ("--labels", "test-labels.csv", "--truth", "test-truth.csv", "--json")
    facts = json.loads(done(tmp_path, "evaluate", "model", "test.csv", *options))
    assert facts["true_accuracy"] == right
    assert abs(facts["accuracy"] - right) < 4 * facts["standard_error"] < 0.1
    assert facts["low"] < facts["accuracy"] < facts["high"]


def long_run(folder: Path, out: str) -> list[str]:
    return ["train", str(folder / "features.csv"), "--labels", str(folder / "labels.csv"), "--out", out, *SCARCE,
            "--epochs", "100", "--no-estimate"]  # fmt: skip


def epochs_in(checkpoint: Path) -> int:
    try:
        return int(load_state(checkpoint)["epoch"])
    except FileError:  # not there yet, or replaced while it was read
        return 0


def stop_in_the_middle(dataset_dir: Path, folder: Path, how: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start a long run, and send it a signal when it has gone through some epochs."""
    command = [*COMMAND, *long_run(dataset_dir, "stopped")]
    checkpoint = folder / "stopped.checkpoint"
    with subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None and epochs_in(checkpoint) < 3:
            time.sleep(0.01)
        process.send_signal(how)
        _, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, None, err)


def test_a_killed_run_goes_on_and_ends_with_the_same_weights(dataset_dir: Path, tmp_path: Path) -> None:
    assert stop_in_the_middle(dataset_dir, tmp_path, signal.SIGKILL).returncode == -signal.SIGKILL
    assert not (tmp_path / "stopped").exists()
    epoch = load_state(tmp_path / "stopped.checkpoint")["epoch"]

    out = done(tmp_path, *long_run(dataset_dir, "stopped"))
    assert f"going on after epoch {epoch}, from stopped.checkpoint\n" in out
    assert "going on" not in done(tmp_path, *long_run(dataset_dir, "whole"))
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("stopped", "whole")]
    assert weights[0] == weights[1]
    assert not (tmp_path / "stopped.checkpoint").exists()


def test_an_interrupted_run_says_how_to_go_on(dataset_dir: Path, tmp_path: Path) -> None:
    process = stop_in_the_middle(dataset_dir, tmp_path, signal.SIGINT)
    epoch = load_state(tmp_path / "stopped.checkpoint")["epoch"]
    assert process.returncode == 130
    assert process.stderr == f"interrupted after epoch {epoch}; run the same command again to go on\n"


def test_a_reader_that_stops_reading_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*COMMAND, "labels", "processes"], env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert process.stderr == b""


def test_a_mistake_gives_one_line_and_exit_code_2(tmp_path: Path) -> None:
    process = shell(tmp_path, "predict", "nowhere", "nothing.csv")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "error: nowhere does not exist; check the path.\n"


def test_help_waits_for_no_heavy_import() -> None:
    program = (
        "import sys; from scarce.cli.main import main\n"
        "for words in (['--help'], ['train', '--help'], ['--version']): assert main(words) == 0\n"
        "heavy = {'torch', 'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert "scarce 0." in process.stdout


def test_train_interrupted_while_it_estimates_has_saved_the_model(digits_dir: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "scarce",
        "train",
        digits_dir / "train.npy",
        "--labels",
        digits_dir / "train-uniform.npz",
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
    assert scarce.load(tmp_path / "m").predict(np.load(digits_dir / "test.npy")).shape == (897,)
    assert not (tmp_path / "m.checkpoint").exists()
