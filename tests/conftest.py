"""Shared by all tests: one torch thread, patient properties, and helpers importable from here."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("patient", deadline=None)  # how long an example takes depends on the machine
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fingerprints",
        action="store_true",
        help="write the numbers of raised revisions to the fingerprints.json beside the tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    import torch

    torch.set_num_threads(1)
    scattered = config.getoption("numprocesses", None) and config.getoption("dist") not in (
        "loadfile",
        "loadscope",
    )
    if config.getoption("--update-fingerprints") and scattered:
        raise pytest.UsageError(
            "--update-fingerprints: the tests of one file must run in one process, which writes their records; add "
            "--dist loadfile, or leave out -n."
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files, each of which one process has to run, so that the other is not idle at the end."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(scope="module")
def fingerprints(request: pytest.FixtureRequest):
    """The records in the folder of a test file that has CASES by label, and says WHERE their revision is raised."""
    from fingerprints import Fingerprints

    module = request.module
    path = Path(module.__file__).with_name("fingerprints.json")
    kept = Fingerprints(
        path, module.CASES, module.WHERE, update=request.config.getoption("--update-fingerprints")
    )
    yield kept
    kept.close()


@pytest.fixture
def no_compiler():
    """Take the C++ compiler away from torch, and what it has compiled before."""
    import torch
    from torch._inductor import config

    with config.patch({"cpp.cxx": (None, "/nonexistent/g++"), "force_disable_caches": True}):
        torch.compiler.reset()
        yield
    torch.compiler.reset()
