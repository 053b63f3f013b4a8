"""A process that has ended, whose locks are stale."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def dead_pid() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid
