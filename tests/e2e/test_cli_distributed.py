"""Several processes that carry out one command, and the settings of a step, on the command line."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

import scarce
from scarce.training import predict_logits

TORCHRUN = [
    sys.executable,
    "-m",
    "torch.distributed.run",
    "--standalone",
    "--nproc-per-node",
    "2",
    "-m",
    "scarce",
]


def train_command(dataset_dir, out, *more):
    options = [
        "--module",
        "linear",
        "--epochs",
        "5",
        "--batch-size",
        "30",
        "--priors",
        "uniform",
        "--no-estimate",
    ]
    files = ["train", dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv", "--out", out]
    return [str(part) for part in (*files, *options, *more)]


def torchrun(arguments):
    """Return the exit code and both streams; no process is left behind."""
    process = subprocess.Popen(
        [*TORCHRUN, *arguments], env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, err


def logits_of(dataset_dir, model):
    return predict_logits(scarce.load(model).model_, np.load(dataset_dir / "features.npy")).numpy()


def told(line: str) -> str:
    """Leave out of a line what differs between runs: how long it took, and where the model went."""
    return re.sub(r" in [0-9.]+ s|/(one|two)$", "", line)


def test_two_processes_speak_and_write_as_one(dataset_dir: Path, tmp_path: Path, run) -> None:
    """The second process says nothing, and a batch in parts is still the batch."""
    code, out, err = torchrun(train_command(dataset_dir, tmp_path / "two", "--micro-batch", "4"))
    assert code == 0, err
    alone = run(*train_command(dataset_dir, tmp_path / "one"))
    assert alone.code == 0
    assert [told(line) for line in out.splitlines()] == [told(line) for line in alone.out.splitlines()]
    assert "warning" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    one, two = logits_of(dataset_dir, tmp_path / "one"), logits_of(dataset_dir, tmp_path / "two")
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    assert (one.argmax(axis=1) == two.argmax(axis=1)).all()


def test_a_mistake_is_one_line_of_each_process(dataset_dir: Path, tmp_path: Path) -> None:
    code, out, err = torchrun(
        ["train", "nowhere.csv", "--labels", str(dataset_dir / "labels.csv"), "--out", str(tmp_path / "m")]
    )
    assert code == 1
    assert out == ""
    ours = [line for line in err.splitlines() if line.startswith("error")]
    assert 1 <= len(ours) <= 2
    assert {line.partition(": ")[2] for line in ours} == {"nowhere.csv does not exist; check the path."}
    assert {line.partition(":")[0] for line in ours} <= {"error", "error of rank 1"}
    assert "scarce/cli" not in err  # a stack trace would name our files; torchrun's own report does not
    assert list(tmp_path.iterdir()) == []
