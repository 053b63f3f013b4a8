"""Fork processes that form a process group, from a script that has imported torch already: quick to start, and yet real."""

import os
import signal
import socket
import sys
import time
import traceback

from helpers.processes import TIMEOUT


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_group(count, function, *arguments):
    """Fork `count` processes that call the function, with the variables that torchrun sets; return their numbers."""
    port = free_port()
    children = []
    for rank in range(count):
        child = os.fork()
        if child == 0:
            os.environ.update(
                RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)
            )  # fmt: skip
            _end(function, arguments)
        children.append(child)
    return children


def start_alone(function, *arguments):
    child = os.fork()
    if child == 0:
        _end(function, arguments)
    return child


def _end(function, arguments):
    code = 99
    try:
        code = function(*arguments) or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def exit_code(child):
    """Return the exit code of a process, or minus the signal that ended it; one that does not end is killed."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "does not end"


def exit_codes(children):
    return [exit_code(child) for child in children]
