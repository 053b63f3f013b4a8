"""``scarce`` under torchrun, whose process of rank 1 halts after some steps: ``torchrun -m e2e.scripts.halting STEPS ...``."""

import os
import runpy
import sys

from e2e.scripts.fork_server import halt_after_steps

if __name__ == "__main__":
    steps = int(sys.argv.pop(1))
    if os.environ["RANK"] == "1":
        halt_after_steps(steps, None)
    runpy.run_module("scarce", run_name="__main__", alter_sys=True)
