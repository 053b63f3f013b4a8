"""Download one file from one URL."""

from pathlib import Path
from typing import TYPE_CHECKING

from scarce._console import make_progress
from scarce._hashing import matches_checksum
from scarce._io.atomic import atomic_write

if TYPE_CHECKING:
    from requests import Response

_MAX_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 16
# A server that compresses a file in transit would send bytes that do not match the known checksum.
_HEADERS = {"User-Agent": "scarce", "Accept-Encoding": "identity"}


class DownloadError(Exception):
    """A URL does not serve the file; the next one may."""


def download_file(url: str, path: Path, checksum: str | None) -> None:
    """Write what a URL serves to `path`, replacing what is there; retry if the connection breaks.

    The file appears under its name only once it is complete and its checksum matches.

    Examples
    --------
    >>> download_file("http://localhost:1/data.gz", Path("data.gz"), None)
    Traceback (most recent call last):
    scarce.datasets._download.DownloadError: no connection (...)
    """
    with atomic_write(path, force=True) as temporary:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                _request(url, temporary, path.name)
                break
            except ConnectionResetError as error:
                if attempt == _MAX_ATTEMPTS:
                    raise DownloadError(f"the connection broke {attempt} times") from error
        if checksum is not None and not matches_checksum(temporary.read_bytes(), checksum):
            raise DownloadError("the file has the wrong checksum")


def _request(url: str, path: Path, title: str) -> None:
    import requests  # slow to import
    from rich.progress import DownloadColumn

    try:
        with (
            requests.get(url, stream=True, timeout=_TIMEOUT_SECONDS, headers=_HEADERS) as response,
            path.open("wb") as file,
            make_progress(DownloadColumn()) as bars,
        ):
            _check_response(response)
            length = response.headers.get("Content-Length")
            task = bars.add_task(title, total=int(length) if length else None)
            for chunk in response.iter_content(_CHUNK_BYTES):
                file.write(chunk)
                bars.advance(task, len(chunk))
    except requests.exceptions.ChunkedEncodingError as error:
        raise ConnectionResetError from error
    except requests.RequestException as error:
        raise DownloadError(f"no connection ({_root_cause(error)})") from error


def _check_response(response: "Response") -> None:
    if not response.ok:
        raise DownloadError(f"the server answered {response.status_code} {response.reason}")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise DownloadError("the server sent a web page instead of the file")
    # Some servers declare a .gz file as compressed in transit; requests would decompress it.
    response.raw.headers.discard("Content-Encoding")


def _root_cause(error: BaseException) -> str:
    """Return the message of the innermost of nested errors; the outer ones print addresses of objects."""
    while error.__context__ is not None:
        error = error.__context__
    return getattr(error, "strerror", None) or str(error)
