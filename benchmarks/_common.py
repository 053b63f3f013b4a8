"""Shared by the benchmarks: command-line options, versions, peak memory, and writing of results."""

import argparse
import platform
from pathlib import Path

import torch

from scarce._io.atomic import atomic_write

__all__ = ["make_parser", "peak_megabytes", "versions", "write"]


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help keeps the line breaks of the description."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def versions() -> str:
    """Return the versions and the machine type, for the head of a result."""
    return f"torch {torch.__version__}, python {platform.python_version()}, {platform.machine()}"


def peak_megabytes() -> float:
    """Return the peak memory of this process in MB; unlike `getrusage`, without its parent's."""
    status = Path("/proc/self/status").read_text()
    return float(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def write(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
