"""Start processes, wait for events in them, and send them signals at a given moment."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import scarce

TESTS = Path(__file__).parents[1]
PATIENCE = float(os.environ.get("SCARCE_TEST_TIMEOUT", "1"))
"""A factor of all timeouts; set it higher on a slow or busy machine."""
TIMEOUT = 300 * PATIENCE
"""Seconds to wait for an event that must occur; only a failing test waits that long."""
# Other processes import the same `scarce` as the tests, in whatever folder they run.
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(
        [str(TESTS), str(Path(scarce.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    ).rstrip(os.pathsep),
}
SCARCE = [sys.executable, "-m", "scarce"]


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Wait until the condition holds, and return its value."""
    end = time.monotonic() + TIMEOUT
    while not (value := condition()):
        assert time.monotonic() < end, f"timed out waiting for {what}"
        time.sleep(0.005)
    return value


def process_state(pid: int) -> str | None:
    """The state of a process as `ps` shows it: R, S, T (stopped), Z (zombie); None if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def open_files(pid: int) -> list[Path]:
    """The files that a process has open."""
    return [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()]


def run_script(name: str, *arguments: object, **environment: str) -> tuple[str, str]:
    """Run `e2e/scripts/NAME.py` to completion, kill processes that it leaves behind, and return stdout and stderr."""
    script = subprocess.Popen(
        [sys.executable, "-m", f"e2e.scripts.{name}", *map(str, arguments)],
        env=ENVIRONMENT | environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = script.communicate(timeout=TIMEOUT)
    finally:
        kill_group(script.pid)
    assert script.returncode == 0, output + errors
    return output, errors


def kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


class Ended(NamedTuple):
    """How a process ended; if a signal killed it, the code is minus its number."""

    code: int
    out: str
    err: str


class ForkServer:
    """Runs programs in processes forked from one that has already imported torch; see `e2e/scripts/fork_server.py`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[ForkedProcess] = []
        self._server = subprocess.Popen(
            [sys.executable, "-m", "e2e.scripts.fork_server"],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(
        self,
        *arguments: object,
        program: str | Path = "scarce",
        cwd: Path | None = None,
        halt_after: int | None = None,
        once: Path | None = None,
    ) -> "ForkedProcess":
        """Start `python -m PROGRAM`, or a script given by its path, in a new session.

        With `halt_after`, the process stops itself with SIGSTOP after that many optimizer steps, counted from when the
        file `once` exists. It therefore never runs past that moment, however slow the test is.
        """
        files = [self.folder / f"{len(self.processes)}.{stream}" for stream in ("out", "err")]
        pid = self.ask(
            program=str(program),
            is_script=isinstance(program, Path),
            arguments=[*map(str, arguments)],
            cwd=str(cwd or Path.cwd()),
            streams=[*map(str, files)],
            halt_after=halt_after,
            once=once and str(once),
        )
        process = ForkedProcess(self, pid, *files)
        self.processes.append(process)
        return process

    def run(self, *arguments: object, program: str | Path = "scarce", cwd: Path | None = None) -> Ended:
        """Run a program to completion, and kill processes that it leaves behind."""
        process = self.start(*arguments, program=program, cwd=cwd)
        ended = process.wait()
        kill_group(process.pid)
        return ended

    def run_script(self, name: str, *arguments: object) -> None:
        ended = self.run(*arguments, program=f"e2e.scripts.{name}")
        assert ended.code == 0, ended.out + ended.err

    def ask(self, **request: object) -> Any:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())

    def close(self) -> None:
        for process in self.processes:
            if process.ended is None:
                kill_group(process.pid)
        self._server.kill()
        self._server.communicate()


class ForkedProcess:
    """A process of the fork server, whose stdout and stderr go to files."""

    def __init__(self, server: ForkServer, pid: int, out: Path, err: Path) -> None:
        self.server, self.pid, self.out, self.err = server, pid, out, err
        self.ended: Ended | None = None

    def wait_until_halted(self) -> None:
        wait_for(lambda: process_state(self.pid) in ("T", "Z", None), "a process to halt")
        assert process_state(self.pid) == "T", "the process ended before it was halted"

    def send(self, number: signal.Signals) -> None:
        """Send a signal, and resume the process if it is halted."""
        os.kill(self.pid, number)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def wait(self) -> Ended:
        wait_for(lambda: self.server.ask(poll=self.pid) is not None, "the end of a process")
        self.ended = Ended(self.server.ask(poll=self.pid), self.out.read_text(), self.err.read_text())
        return self.ended
