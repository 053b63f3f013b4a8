"""Setup of all tests: one torch thread, no deadline for hypothesis, the mark `slow`, fingerprints."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)  # the time of an example depends on the machine
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fingerprints",
        action="store_true",
        help="write the numbers of raised revisions to the fingerprints.json next to the tests",
    )
    parser.addoption(
        "--update-public-api",
        action="store_true",
        help="write the public names to tests/public_api.txt and docs/api.md",
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
    """Mark the tests in `e2e` as slow, and run long files first, so that no process is idle at the end."""
    for item in items:
        if {"e2e", "fuzz"} & set(item.path.relative_to(Path(__file__).parents[1]).parts):
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(scope="module")
def fingerprints(request: pytest.FixtureRequest):
    """The fingerprints in the folder of a test file, which defines CASES by label, and WHERE to raise a revision."""
    from helpers.fingerprints import Fingerprints

    module = request.module
    path = Path(module.__file__).with_name("fingerprints.json")
    kept = Fingerprints(
        path, module.CASES, module.WHERE, update=request.config.getoption("--update-fingerprints")
    )
    yield kept
    kept.close()


@pytest.fixture
def update_public_api(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-public-api"))


@pytest.fixture
def no_compiler():
    """Hide the C++ compiler from torch, and clear what it has compiled."""
    import torch
    from torch._inductor import config

    with config.patch({"cpp.cxx": (None, "/nonexistent/g++"), "force_disable_caches": True}):
        torch.compiler.reset()
        yield
    torch.compiler.reset()
