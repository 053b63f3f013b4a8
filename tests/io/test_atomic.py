"""Atomic writes: the whole file or the old one, never half of it."""

import os
import subprocess
import sys

import pytest
from helpers.processes import ENVIRONMENT

from scarce._io.atomic import atomic_write
from scarce._io.temporary import clean_leftovers
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


def test_files_of_running_writers_are_not_leftovers(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_write(path, force=True) as one:
        one.write_text("one")
        with atomic_write(path, force=True) as other:
            clean_leftovers(path)
            other.write_text("other")
        assert path.read_text() == "other"
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_write_rejects_named_pipe(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="not an ordinary file"), atomic_write(pipe, force=True):
        pass
    assert pipe.is_fifo()


KILLED_WRITE = """
import os, signal, sys
from scarce._io.atomic import atomic_write
with atomic_write(sys.argv[1], force=True) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_clean_leftovers_deletes_only_temporary_files_of_the_path(tmp_path):
    kept = [
        "a[1].txt",
        "a1.txt",
        ".a1.txt.scarce-12345678.txt",
        ".a[1].txt",
        ".a[1].txt.12345678.txt",
        ".a[1].txt.scarce-notes.txt",
        ".a[1].txt.scarce-12345678.csv",
    ]
    for name in kept:
        (tmp_path / name).touch()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED_WRITE, tmp_path / "a[1].txt"], env=ENVIRONMENT)
    assert len(list(tmp_path.iterdir())) == len(kept) + 1  # the second has deleted what the first left behind
    clean_leftovers(tmp_path / "a[1].txt")
    assert {path.name for path in tmp_path.iterdir()} == set(kept)
