"""One short demonstration, shared by the tests of what is made of it."""

import pytest

from scarce.demo.study import Demo, run_demo


@pytest.fixture(scope="session")
def demo() -> Demo:
    return run_demo(seed=0, epochs=40)
