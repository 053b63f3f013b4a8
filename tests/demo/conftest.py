"""One short demonstration, shared by all tests."""

import pytest

from scarce.demo.study import Demo, run_demo


@pytest.fixture(scope="session")
def demo() -> Demo:
    return run_demo(seed=0, epochs=40)
