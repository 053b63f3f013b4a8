"""The command line in this process and in processes of their own, and data sets in files."""

from collections.abc import Iterator

import pytest
from helpers.command_line import dataset_dir, digits_dir, run, run_expecting_error  # noqa: F401
from helpers.processes import ForkServer


@pytest.fixture(scope="session")
def fork_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Starts processes that have imported torch already."""
    server = ForkServer(tmp_path_factory.mktemp("streams"))
    yield server
    server.close()
