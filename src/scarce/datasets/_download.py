"""One file from one address, going on where an earlier try stopped."""

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

_TRIES = 3
_TIMEOUT = 30
_CHUNK = 1 << 18


def resumable_downloader(part: Path) -> Callable[[str, str, Any], None]:
    """Return a downloader for pooch that collects the file in `part`, which outlives a broken connection.

    Examples
    --------
    >>> resumable_downloader(Path("data.gz.part"))("http://localhost:1/data.gz", "data.gz", None)
    Traceback (most recent call last):
    scarce.errors.FileError: no connection (...)
    """

    def download(url: str, output_file: str, _: Any) -> None:
        for attempt in range(_TRIES):
            had = _size(part)
            try:
                _append(url, part, had)
                break
            except _CutOffError as error:
                if attempt == _TRIES - 1 or _size(part) == had:
                    raise FileError(f"cut off after {_size(part):,} bytes ({error})") from error
        part.replace(output_file)

    return download


class _CutOffError(Exception):
    """The connection broke before the end of the file."""


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _append(url: str, part: Path, had: int) -> None:
    """Add to the `had` bytes that are there what is missing; start anew if the server cannot do that."""
    headers = {"User-Agent": "scarce"} | ({"Range": f"bytes={had}-"} if had else {})
    try:
        response = urlopen(Request(url, headers=headers), timeout=_TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and had:
            part.unlink()  # not the beginning of this file
            _append(url, part, 0)
            return
        raise FileError(f"the server answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise FileError(f"no connection ({reason})") from error
    with response:
        if response.headers.get_content_type() == "text/html":
            raise FileError("the server sent a web page in place of the file")
        start = _start(response)
        if start not in (0, had):
            raise FileError(f"the server sent the file from byte {start} on, not from {had}")
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        with part.open("ab" if start else "wb") as file, _bar(part.stem, start, total) as advance:
            for chunk in _chunks(response):
                file.write(chunk)
                advance(len(chunk))
        if total is not None and _size(part) < total:
            raise _CutOffError(f"of {total:,}")


def _start(response: Any) -> int:
    if response.status != http.client.PARTIAL_CONTENT:
        return 0  # the server ignores ranges and sends the whole
    place = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(place[1]) if place else -1


def _chunks(response: Any) -> Iterator[bytes]:
    try:
        while chunk := response.read(_CHUNK):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise _CutOffError(str(error) or type(error).__name__) from error


@contextmanager
def _bar(title: str, start: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error, if that is a terminal, and give the function that moves it on."""
    from rich.progress import DownloadColumn

    with make_progress(DownloadColumn()) as bars:
        task = bars.add_task(title, total=total, completed=start)
        yield lambda n: bars.advance(task, n)
