"""Commands that are terminated, that share an output, or whose names hold control characters, in real processes."""

import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.csv_files import write_csv
from helpers.processes import ENVIRONMENT, SCARCE, ForkServer

from scarce.simulate import scar
from scarce.training._checkpoint import load_state

pytestmark = pytest.mark.early

Run = Callable[..., Any]
LINE = "interrupted; rerun the same command\n"


def long_training(folder: Path, out: Path, *more: object) -> list[object]:
    files = ["train", folder / "features.csv", "--labels", folder / "labels.csv", "--out", out]
    return [*files, "--method", "scarce", "--epochs", 100, "--no-estimate", *more]


def test_terminated_training_says_how_to_resume(
    dataset_dir: Path, tmp_path: Path, fork_server: ForkServer
) -> None:
    checkpoint = tmp_path / "model.checkpoint"
    process = fork_server.start(
        *long_training(dataset_dir, tmp_path / "model"), halt_after=10, once=checkpoint
    )
    process.wait_until_halted()
    process.send(signal.SIGTERM)
    ended = process.wait()
    epoch = load_state(checkpoint)["epoch"]
    assert ended.code == 130
    assert ended.err == f"interrupted after epoch {epoch}; rerun the same command to resume\n"
    assert [path.name for path in tmp_path.iterdir()] == ["model.checkpoint"]


def test_killed_stack_of_images_is_resumed_with_the_same_weights(
    tmp_path: Path, run: Run, fork_server: ForkServer
) -> None:
    y = np.arange(12) % 3
    images = (
        np.random.default_rng(0).integers(0, 255, (12, 8, 8)).astype(np.uint8) // 4
        + 90 * (y == 0)[:, None, None]
    )
    np.save(tmp_path / "images.npy", images.astype(np.uint8))
    scar(y, c=0.6, seed=0).save(tmp_path / "labels.npz")

    def command(name: str) -> list[object]:
        files = [
            "train",
            tmp_path / "images.npy",
            "--labels",
            tmp_path / "labels.npz",
            "--out",
            tmp_path / name,
        ]
        return [*files, "--no-estimate"]

    assert run(*command("whole")).code == 0
    networks = tmp_path / "model.checkpoint.networks"
    for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 130)):
        process = fork_server.start(*command("model"), halt_after=400, once=networks)
        process.wait_until_halted()
        process.send(number)
        ended = process.wait()
        assert ended.code == code
        n_finished = len(list(networks.glob("*.safetensors")))
        assert n_finished > 0
    assert (
        ended.err.splitlines()[-1]
        == f"interrupted after {n_finished} networks; rerun the same command to resume"
    )
    resumed = run(*command("model"))
    assert f"resuming after {n_finished} networks" in resumed.out
    assert not networks.exists()
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "model")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("command", ["priors", "demo"])
def test_interrupted_command_ends_in_one_line_without_output(
    command: str, number: signal.Signals, dataset_dir: Path, tmp_path: Path, fork_server: ForkServer
) -> None:
    files = [dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv", "--out", tmp_path / "out"]
    words = ["demo", "--out", tmp_path / "page.html"] if command == "demo" else [command, *files]
    process = fork_server.start(*words, halt_after=3)
    process.wait_until_halted()
    process.send(number)
    code, _, err = process.wait()
    assert code == 130
    assert err.splitlines()[-1] == LINE.rstrip()
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_second_training_into_same_output_ends_at_once_until_the_first_has_died(
    dataset_dir: Path, tmp_path: Path, run: Run, fork_server: ForkServer
) -> None:
    command, checkpoint = long_training(dataset_dir, tmp_path / "model"), tmp_path / "model.checkpoint"
    first = fork_server.start(*command, halt_after=10, once=checkpoint)
    first.wait_until_halted()
    epoch = load_state(checkpoint)["epoch"]
    for more in ([], ["--force"], ["--restart"]):
        refused = run(*command, *more)
        assert refused.code == 2
        assert refused.out == ""
        assert refused.err == (
            f"error: another process is training into {tmp_path / 'model'}; wait for it, or choose another --out.\n"
        )
    assert load_state(checkpoint)["epoch"] == epoch
    first.send(signal.SIGKILL)
    assert first.wait().code == -signal.SIGKILL
    resumed = run(*command)
    assert (resumed.code, resumed.err) == (0, "")
    assert f"resuming after epoch {epoch}" in resumed.out
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_terminal_gets_no_control_characters_of_names_but_those_of_the_progress_bar(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = np.array(["a\x1b[31mnt", "b\x9bee", "c\u202eat"])
    y = rng.choice(3, 60)
    X = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    np.save(tmp_path / "x.npy", X)
    labels = scar(names[y], c=0.5, classes=names, seed=0).indicator()
    answers = ([f"r{row}", names[k], "no"] for row in range(60) for k in np.nonzero(labels[row])[0])
    write_csv(tmp_path / "labels.csv", ["example_id", "class_name", "answer"], answers)
    write_csv(tmp_path / "x.csv", ["id", "a", "b", "c"], ([f"r{row}", *X[row]] for row in range(60)))
    files = ["train", "x.csv", "--labels", "labels.csv", "--join", "left", "--out", "model"]
    options = ["--method", "scarce", "--module", "linear", "--epochs", "2", "--priors", "uniform"]
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [*SCARCE, *files, *options, "--no-estimate"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=end,
        stderr=end,
    ) as process:
        os.close(end)
        shown = b""
        try:
            while part := os.read(terminal, 1000):
                shown += part
        except OSError:  # the command has closed its end
            pass
        os.close(terminal)
    text = shown.decode()
    assert process.returncode == 0, text
    assert r"a\x1b[31mnt" in text
    assert r"b\x9bee" in text
    assert r"c\u202eat" in text
    assert "\x1b[31mnt" not in text
    assert "\x1b[?25l" in text  # the progress bar hides the cursor
    assert not {"\x9b", "\u202e"} & set(text)
