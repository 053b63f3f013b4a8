"""Download one file from one URL."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pooch

from scarce._console import make_progress
from scarce._hashing import matches_checksum
from scarce._io.atomic import atomic_write, clean_leftovers

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["DownloadError", "download_file"]

_MAX_ATTEMPTS = 3
_CHUNK_BYTES = 1 << 16
# A server that compresses a file on the way would send other bytes than those whose checksum is known.
_HEADERS = {"User-Agent": "scarce", "Accept-Encoding": "identity"}


class DownloadError(Exception):
    """A URL does not serve the file; the next one may."""


def download_file(url: str, path: Path, checksum: str | None) -> None:
    """Write what a URL serves to `path`, replacing what is there; retry if the connection breaks.

    The file appears under its name once it is complete and its checksum right.

    Examples
    --------
    >>> download_file("http://localhost:1/data.gz", Path("data.gz"), None)
    Traceback (most recent call last):
    scarce.datasets._download.DownloadError: no connection (...)
    """
    clean_leftovers(path)
    # Not `pooch.retrieve`, whose files only their owner may read, and whose temporary files outlive a killed process.
    with atomic_write(path, force=True) as temporary:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                _request(url, temporary, path.name)
                break
            except ConnectionResetError as error:
                if attempt == _MAX_ATTEMPTS:
                    raise DownloadError(f"the connection broke {attempt} times") from error
        if checksum is not None and not matches_checksum(temporary.read_bytes(), checksum):
            raise DownloadError("what it sent has the wrong checksum")


def _request(url: str, path: Path, title: str) -> None:
    from requests.exceptions import ChunkedEncodingError, HTTPError, RequestException  # slow to import
    from rich.progress import DownloadColumn

    with make_progress(DownloadColumn()) as bars:
        request = pooch.HTTPDownloader(
            progressbar=_ProgressBar(bars, title),
            chunk_size=_CHUNK_BYTES,
            headers=_HEADERS,
            hooks={"response": _check_response},
        )
        try:
            request(url, str(path), None)
        except ChunkedEncodingError as error:
            raise ConnectionResetError from error
        except HTTPError as error:
            answer = error.response
            raise DownloadError(f"the server answered {answer.status_code} {answer.reason}") from None
        except RequestException as error:
            raise DownloadError(f"no connection ({_root_cause(error)})") from error


def _check_response(response: Any, **_: object) -> None:
    if response.status_code == 200 and response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError("the server sent a web page in place of the file")
    # Some servers declare a .gz file as compressed in transit; requests would decompress it.
    response.raw.headers.discard("Content-Encoding")


def _root_cause(error: BaseException) -> str:
    """Return what the innermost of nested errors says, without the addresses of objects that others print."""
    while error.__context__ is not None:
        error = error.__context__
    return getattr(error, "strerror", None) or str(error)


class _ProgressBar:
    """The progress bar of one file, as pooch drives it."""

    def __init__(self, bars: "Progress", title: str) -> None:
        self._bars, self._task = bars, bars.add_task(title, total=None)
        self.total = 0  # bytes; pooch sets it, and leaves 0 if the server does not tell

    def update(self, n: int) -> None:
        self._bars.update(self._task, advance=n, total=self.total or None)

    def reset(self) -> None:
        self._bars.reset(self._task)

    def close(self) -> None:
        pass  # `make_progress` closes it
