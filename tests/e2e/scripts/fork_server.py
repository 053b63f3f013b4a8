"""Fork processes from one that has imported torch already: quick to start, and yet real.

Every line of the standard input is a request, as JSON: to start a program, which is answered with the number of its
process, or for the exit code of a process, which is null while it runs.
"""

import gc
import json
import os
import runpy
import signal
import sys
from pathlib import Path


def warm_up():
    """Import all that training and experiments import, also what they import late."""
    import numpy as np
    import torch

    from scarce import ScarceClassifier
    from scarce.labels import ComplementaryLabels

    torch.set_num_threads(1)
    labels = ComplementaryLabels.from_single(np.arange(12) % 3, classes=3)
    ScarceClassifier("scarce", "linear", "uniform", epochs=1).fit(np.eye(12, 4), labels)


def halt_after_steps(left, once):
    """Make this process stop itself after a number of steps of an optimizer, counted once a file exists."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    def count(*_):
        nonlocal left
        left -= once is None or Path(once).exists()
        if left == 0:
            left = -1
            os.kill(os.getpid(), signal.SIGSTOP)

    register_optimizer_step_post_hook(count)


def start(program, is_script, arguments, cwd, streams, halt_after, once):
    """Return the number of the new process; in that process, run the program and exit as Python does."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(streams, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if halt_after is not None:
        halt_after_steps(halt_after, once)
    sys.argv[1:] = arguments
    if is_script:
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    sys.exit(0)


def main():
    warm_up()
    gc.freeze()
    ended = {}
    while line := sys.stdin.readline():
        request = json.loads(line)
        if "poll" in request:
            pid = request["poll"]
            if pid not in ended:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            answer = ended.get(pid)
        else:
            answer = start(**request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell may have started the tests in the background
    main()
