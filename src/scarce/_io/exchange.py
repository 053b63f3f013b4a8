"""Swap two folders in one step, where the system can."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_CURRENT_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two files or folders atomically; return False if the system or the file system cannot.

    Examples
    --------
    >>> import sys
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     one, other = Path(folder, "one"), Path(folder, "other")
    ...     one.mkdir(), other.write_text("a file")
    ...     swapped = exchange(one, other)
    ...     one.is_file() is other.is_dir() is swapped
    (None, 6)
    True
    """
    rename = _renameat2()
    if rename is None:
        return False
    sys.audit("os.rename", os.fspath(one), os.fspath(other), -1, -1)  # as `os.rename` reports itself
    code = rename(_CURRENT_FOLDER, os.fsencode(one), _CURRENT_FOLDER, os.fsencode(other), _EXCHANGE)
    return bool(code == 0)


@cache
def _renameat2() -> Any:
    """Return the function of the C library, or None if it has none."""
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return function
