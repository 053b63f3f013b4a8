"""What the speed benchmarks share: options, versions, peak memory, and writing a result."""

import argparse
import platform
from pathlib import Path

import torch

from scarce._io.atomic import atomic_write

__all__ = ["make_parser", "peak_megabytes", "versions", "write"]


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows the description of a script as it is written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def versions() -> str:
    """Return the versions and the machine that a result was measured with."""
    return f"torch {torch.__version__}, python {platform.python_version()}, {platform.machine()}"


def peak_megabytes() -> float:
    """Return the peak memory of this process; unlike `getrusage`, without that of its parent."""
    status = Path("/proc/self/status").read_text()
    return float(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def write(path: Path, text: str) -> None:
    """Write a text file; an interruption leaves the earlier file as it was."""
    with atomic_write(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
