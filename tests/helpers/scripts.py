"""Run the programs of `e2e/scripts` in processes of their own."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

TESTS = Path(__file__).parents[1]
PATIENCE = float(os.environ.get("SCARCE_TEST_TIMEOUT", "1"))
"""Every time-out is multiplied by it: set it higher on a slow or busy machine."""


def run_script(name, *arguments, timeout=600, **environment):
    """Run `e2e/scripts/NAME.py`, leave none of its processes behind, and return what it printed and what it complained of."""
    search_path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    script = subprocess.Popen(
        [sys.executable, "-m", f"e2e.scripts.{name}", *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": search_path} | environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = script.communicate(timeout=timeout * PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(script.pid, signal.SIGKILL)
    assert script.returncode == 0, output + errors
    return output, errors
