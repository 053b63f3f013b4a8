"""Download one file from one URL, and resume where an earlier attempt stopped."""

import http.client
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from scarce._console import make_progress
from scarce.errors import FileError

__all__ = ["resumable_downloader"]

_MAX_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 18


def resumable_downloader(partial_path: Path) -> Callable[[str, str, Any], None]:
    """Return a downloader for pooch that writes to `partial_path`, from where it resumes if the connection breaks.

    Examples
    --------
    >>> resumable_downloader(Path("data.gz.part"))("http://localhost:1/data.gz", "data.gz", None)
    Traceback (most recent call last):
    scarce.errors.FileError: no connection (...)
    """

    def download(url: str, output_file: str, _: Any) -> None:
        for attempt in range(_MAX_ATTEMPTS):
            offset = _file_size(partial_path)
            try:
                _resume(url, partial_path, offset)
                break
            except _ConnectionLostError as error:
                if attempt == _MAX_ATTEMPTS - 1 or _file_size(partial_path) == offset:
                    raise FileError(f"cut off after {_file_size(partial_path):,} bytes ({error})") from error
        partial_path.replace(output_file)

    return download


class _ConnectionLostError(Exception):
    """The connection broke before the end of the file."""


def _file_size(partial_path: Path) -> int:
    return partial_path.stat().st_size if partial_path.exists() else 0


def _resume(url: str, partial_path: Path, offset: int) -> None:
    """Append what is missing after the first `offset` bytes; start over if the server cannot do that."""
    headers = {"User-Agent": "scarce"} | ({"Range": f"bytes={offset}-"} if offset else {})
    try:
        response = urlopen(Request(url, headers=headers), timeout=_TIMEOUT_SECONDS)
    except HTTPError as error:
        error.close()
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and offset:
            partial_path.unlink()  # not the beginning of this file
            _resume(url, partial_path, 0)
            return
        raise FileError(f"the server answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise FileError(f"no connection ({reason})") from error
    with response:
        if response.headers.get_content_type() == "text/html":
            raise FileError("the server sent a web page in place of the file")
        start = _first_byte(response)
        if start not in (0, offset):
            raise FileError(f"the server sent the file from byte {start} on, not from {offset}")
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        with (
            partial_path.open("ab" if start else "wb") as file,
            _progress_bar(partial_path.stem, start, total) as advance,
        ):
            for chunk in _iter_chunks(response):
                file.write(chunk)
                advance(len(chunk))
        if total is not None and _file_size(partial_path) < total:
            raise _ConnectionLostError(f"of {total:,}")


def _first_byte(response: Any) -> int:
    if response.status != http.client.PARTIAL_CONTENT:
        return 0  # the server ignores ranges and sends the whole file
    content_range = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(content_range[1]) if content_range else -1


def _iter_chunks(response: Any) -> Iterator[bytes]:
    try:
        while chunk := response.read(_CHUNK_BYTES):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise _ConnectionLostError(str(error) or type(error).__name__) from error


@contextmanager
def _progress_bar(title: str, start: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error, if that is a terminal, and yield the function that advances it."""
    from rich.progress import DownloadColumn

    with make_progress(DownloadColumn()) as bars:
        task = bars.add_task(title, total=total, completed=start)
        yield lambda n: bars.advance(task, n)
