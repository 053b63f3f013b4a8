"""Two and three real processes train as one does."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from together import SETTINGS

HERE = Path(__file__).parent


def start_together(count, *command, **more):
    """Start so many processes that find each other on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    group = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return [
        subprocess.Popen(
            [sys.executable, *map(str, command)],
            env=os.environ | group | {"RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
        )
        for rank in range(count)
    ]  # fmt: skip


def finish(processes, timeout=100):
    """Return what the processes wrote to stderr, after all have ended well."""
    said = [process.communicate(timeout=timeout) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    subprocess.run([sys.executable, HERE / "together.py", folder], env=environment, check=True)
    return folder


@pytest.fixture(scope="module", params=[2, 3])
def together(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"together{request.param}")
    finish(start_together(request.param, HERE / "together.py", folder))
    return folder, request.param


@pytest.mark.parametrize("name", SETTINGS)
def test_every_method_trains_as_in_one_process(name, alone, together):
    folder, count = together
    for expected_path in sorted(alone.glob(f"{name} *.safetensors")):
        expected = load_file(expected_path)
        ranks = [load_file(folder / expected_path.name.replace(" 0.", f" {rank}.")) for rank in range(count)]
        tolerance = 1e-10 if " step " in expected_path.name else 1e-8
        for weight, value in expected.items():
            for other in ranks[1:]:
                torch.testing.assert_close(other[weight], ranks[0][weight], rtol=0, atol=0)
            torch.testing.assert_close(ranks[0][weight], value, rtol=tolerance, atol=tolerance)
