"""Shared by all tests: one torch thread, patient properties, and helpers importable from here."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("patient", deadline=None)  # how long an example takes depends on the machine
settings.load_profile("patient")


def pytest_configure() -> None:
    import torch

    torch.set_num_threads(1)
