"""``torchrun -m scarce train``: several processes carry out one command."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from helpers.processes import Ended, ForkServer

import scarce
from scarce.training import predict_logits

OPTIONS = [
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


def train_command(dataset_dir: Path, out: Path) -> list[object]:
    files = ["train", dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv", "--out", out]
    return [*files, *OPTIONS]


def torchrun(fork_server: ForkServer, *arguments: object) -> Ended:
    options = ("--standalone", "--nproc-per-node", "2", "-m", "scarce")
    return fork_server.run(*options, *arguments, program="torch.distributed.run")


def predicted_logits(dataset_dir: Path, model: Path) -> np.ndarray:
    return predict_logits(scarce.load(model).model_, np.load(dataset_dir / "features.npy")).numpy()


def without_time_and_place(line: str) -> str:
    return re.sub(r" in [0-9.]+ s|/(one|two)$", "", line)


def test_torchrun_prints_and_trains_like_one_process(
    dataset_dir: Path, tmp_path: Path, run: Callable[..., Any], fork_server: ForkServer
) -> None:
    """The second process prints nothing, and micro-batches give the step of the whole batch."""
    command = train_command(dataset_dir, tmp_path / "two")
    code, out, err = torchrun(fork_server, *command, "--micro-batch", "4")
    assert code == 0, err
    alone = run(*train_command(dataset_dir, tmp_path / "one"))
    assert alone.code == 0
    expected = [without_time_and_place(line) for line in alone.out.splitlines()]
    assert [without_time_and_place(line) for line in out.splitlines()] == expected
    assert "warning" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    one, two = (predicted_logits(dataset_dir, tmp_path / name) for name in ("one", "two"))
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    assert (one.argmax(axis=1) == two.argmax(axis=1)).all()


def test_mistake_is_one_line_per_process(dataset_dir: Path, tmp_path: Path, fork_server: ForkServer) -> None:
    labels = dataset_dir / "labels.csv"
    code, out, err = torchrun(
        fork_server, "train", "nowhere.csv", "--labels", labels, "--out", tmp_path / "m"
    )
    assert code == 1
    assert out == ""
    ours = [line for line in err.splitlines() if line.startswith("error")]
    assert 1 <= len(ours) <= 2
    assert {line.partition(": ")[2] for line in ours} == {"nowhere.csv does not exist; check the path."}
    assert {line.partition(":")[0] for line in ours} <= {"error", "error of rank 1"}
    assert "scarce/cli" not in err  # a stack trace would name our files; torchrun's own report does not
    assert list(tmp_path.iterdir()) == []
