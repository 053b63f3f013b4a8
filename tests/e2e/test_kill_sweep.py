"""Writers killed before any event that changes a file: the old output is whole, or the new one is."""

import json
import os
import signal

import pytest
from helpers.processes import ForkServer

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]

SCENARIOS = [
    "text",
    "first text",
    "save",
    "first save",
    "save without exchange",
    "train",
    "convert",
    "predict",
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_kill_before_any_event_leaves_old_or_new_output(tmp_path, fork_server: ForkServer, scenario):
    fork_server.run_script("kill_sweep", tmp_path, scenario)
    *killed, finished = json.loads((tmp_path / f"{scenario}.json").read_text())[scenario]
    assert killed[0]["found"] == "old"
    assert [
        record for record in killed if record["signal"] != signal.SIGKILL or record["found"] == "damaged"
    ] == []
    assert [record for record in killed if record["again"] != [0, "new"] or record["unexpected"]] == []
    assert (finished["signal"], finished["found"]) == (0, "new")
