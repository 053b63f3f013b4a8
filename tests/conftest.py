"""Shared by all tests: one torch thread, patient properties, and helpers importable from here."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("patient", deadline=None)  # how long an example takes depends on the machine
settings.load_profile("patient")


def pytest_configure() -> None:
    import torch

    torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files, each of which one process has to run, so that the other is not idle at the end."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture
def no_compiler():
    """Take the C++ compiler away from torch, and what it has compiled before."""
    import torch
    from torch._inductor import config

    with config.patch({"cpp.cxx": (None, "/nonexistent/g++"), "force_disable_caches": True}):
        torch.compiler.reset()
        yield
    torch.compiler.reset()
