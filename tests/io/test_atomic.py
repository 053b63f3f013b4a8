"""Atomic writes: the whole file or the old one, never half of it."""

import os

import pytest

from scarce._io.atomic import atomic_write
from scarce.errors import FileError


def test_failed_write_keeps_old_file_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half(fault):
        with atomic_write(path, force=True) as aside:
            aside.write_text("half")
            raise fault

    with pytest.raises(KeyboardInterrupt):
        write_half(KeyboardInterrupt())
    with pytest.raises(FileError, match=r"a\.txt cannot be written: No space left"):
        write_half(OSError(28, "No space left on device"))
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("a.txt", "old")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_write_rejects_named_pipe(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="not an ordinary file"), atomic_write(pipe, force=True):
        pass
    assert pipe.is_fifo()
