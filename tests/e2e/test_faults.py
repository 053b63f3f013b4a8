"""Processes that are killed or stopped and disks that are full: training ends, says why, and can be resumed."""

import json
import re
import sys
from pathlib import Path

import pytest
import torch
from e2e.scripts.faults import EPOCHS
from helpers.processes import ForkServer
from safetensors.torch import load_file

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and /proc"),
    pytest.mark.early,
]

LINES = "trained", "saved the model to"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    fork_server.run_script("faults", folder)
    return folder


@pytest.fixture
def report(root):
    return json.loads((root / "report.json").read_text())


def assert_same_weights(one: Path, other: Path):
    """To the rounding of float32; more processes add numbers in another order."""
    first, second = load_file(one / "weights.safetensors"), load_file(other / "weights.safetensors")
    assert list(first) == list(second)
    for name, value in first.items():
        torch.testing.assert_close(second[name], value, rtol=1e-5, atol=1e-5)


def test_torchrun_ends_when_a_process_is_killed(report):
    torchrun = report["torchrun"]
    assert torchrun["code"] != 0
    assert "exitcode  : -9" in torchrun["output"]
    assert "rank      : 1" in torchrun["output"]
    assert not re.search(r"scarce/(cli|training)/", torchrun["output"])  # only torchrun shows where it was
    assert 2 <= torchrun["epochs"] < EPOCHS
    assert not torchrun["model"]


@pytest.mark.parametrize("count", [1, 3])
def test_checkpoint_is_resumed_by_any_number_of_processes(root, report, count):
    resumed = report[f"resumed by {count}"]
    assert resumed["codes"] == [0] * count
    assert resumed["left"] == ["model", *(f"output {rank}" for rank in range(count))]
    first, *others = resumed["outputs"].values()
    assert f"resuming after epoch {report['torchrun']['epochs']}, from " in first
    assert all(first.count(line) == 1 for line in LINES)
    assert others == [""] * (count - 1)
    assert_same_weights(root / "undisturbed", root / f"resumed by {count}" / "model")


def test_full_disk_keeps_earlier_checkpoint(root, report):
    full = report["full disk"]
    assert full["code"] == 1
    assert full["left"] == ["model.checkpoint", "output 0"]
    assert full["kept"]
    lines = full["outputs"]["output 0"].splitlines()
    assert lines[-1].startswith("error: ")
    assert "model.checkpoint cannot be written" in lines[-1]
    assert "File too large" in lines[-1]
    assert lines[-1].endswith("an earlier version of it is kept.")
    assert not any("Traceback" in line for line in lines)
    assert full["again"] == 0
    assert_same_weights(root / "undisturbed", root / "full" / "model")


@pytest.mark.parametrize(("what", "missing"), [("killed", 1), ("stopped", 1), ("first stopped", 0)])
def test_remaining_process_names_the_missing_rank(report, what, missing):
    struck = report[what]
    assert struck["code"] == 7
    (line,) = struck["errors"]
    assert line.startswith(f"the process of rank {missing} of 2 ended or does not respond; ")
    assert "\n" not in line
