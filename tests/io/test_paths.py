"""Checks of paths."""

import pytest

from scarce._io.paths import check_file
from scarce.errors import FileError


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "a\0b.csv"])
def test_check_file_rejects_impossible_name(name):
    with pytest.raises(FileError, match=r"cannot be read|does not exist"):
        check_file(name)
