"""Shared by all tests: one torch thread, and helpers importable from here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure() -> None:
    import torch

    torch.set_num_threads(1)
