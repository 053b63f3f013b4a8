"""Two and three real processes train as one does."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from together import COUNTS, SETTINGS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

HERE = Path(__file__).parent


def run_script(name, *arguments, timeout=200):
    """Run a script beside this file, and leave none of its processes behind."""
    script = subprocess.Popen(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        said, _ = script.communicate(timeout=timeout)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(script.pid, signal.SIGKILL)
    assert script.returncode == 0, said


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    run_script("together.py", folder)
    return folder


@pytest.mark.parametrize("count", COUNTS[1:])
@pytest.mark.parametrize("name", SETTINGS)
def test_every_method_trains_as_in_one_process(name, count, root):
    alone = sorted((root / "1").glob(f"{name} *.safetensors"))
    assert alone
    for path in alone:
        expected = load_file(path)
        ranks = [
            load_file(root / str(count) / path.name.replace(" 0.", f" {rank}.")) for rank in range(count)
        ]
        tolerance = 1e-10 if " step " in path.name else 1e-8
        for weight, value in expected.items():
            for other in ranks[1:]:
                torch.testing.assert_close(other[weight], ranks[0][weight], rtol=0, atol=0)
            torch.testing.assert_close(ranks[0][weight], value, rtol=tolerance, atol=tolerance)
