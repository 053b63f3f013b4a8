"""A training killed with SIGKILL at any moment and resumed ends exactly like an undisturbed one."""

import json
import os
from pathlib import Path

import pytest
from e2e.scripts.killing import EPOCHS, MOMENTS, RESTLESS, SCENARIOS
from helpers.processes import ForkServer
from helpers.training import same_state, without_seconds

from scarce.training._checkpoint import load_state

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.early,
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    fork_server.run_script("killing", folder)
    return folder


def report(root, name):
    return json.loads((root / "report.json").read_text())[name]


def assert_same_end(root, scenario, moment):
    alone = load_state(root / scenario / "undisturbed" / "end.safetensors")
    resumed = load_state(root / scenario / moment / "end.safetensors")
    assert same_state(resumed["model"], alone["model"])
    assert same_state(resumed["method"], alone["method"])
    assert without_seconds(resumed["history"]) == without_seconds(alone["history"])


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_training_resumes_to_the_same_end(root, scenario, moment):
    signal, epochs_saved, resumed = report(root, f"{scenario}/{moment}")
    assert (signal, resumed) == (9, 0)
    assert epochs_saved == MOMENTS[moment]
    assert_same_end(root, scenario, moment)


def test_training_killed_again_and_again_resumes_to_the_same_end(root):
    signals = report(root, "again-and-again")
    assert signals[0] == 9
    assert signals[-1] == 0
    assert_same_end(root, RESTLESS, "again-and-again")


def test_scenarios_differ_and_have_state_to_lose(root):
    """Otherwise the tests above could pass with nothing to restore."""
    ends = {name: load_state(root / name / "undisturbed" / "end.safetensors") for name in SCENARIOS}
    weights = [end["model"]["0.weight"].tolist() for end in ends.values()]
    assert len({str(weight) for weight in weights}) == len(SCENARIOS)
    method = ends["sgd-with-a-method-that-has-state"]["method"]
    assert method["visits"].tolist() == [EPOCHS] * len(method["visits"])
    assert method["log_temperature"].item() != 0
    stopped = ends["adam-with-early-stopping"]
    assert len(stopped["history"]) == EPOCHS
    assert stopped["method"]["visits"].tolist() == [3] * len(method["visits"])  # back at its best epoch
