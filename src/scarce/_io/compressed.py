"""Files that may be gzipped."""

import gzip
import io
import zlib
from pathlib import Path

from scarce._limits import check_bytes, max_bytes
from scarce.errors import FileError

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_RATIO = 1032  # of the format: two bits may stand for 258 bytes
_CHUNK_BYTES = 1 << 20


def read_content(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is gzipped.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.gz").write_bytes(gzip.compress(b"content"))
    ...     read_content(Path(folder, "a.gz"))
    b'content'
    """
    try:
        check_bytes(path.stat().st_size, path)
        return decompress(path.read_bytes(), path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def decompress(data: bytes, path: Path) -> bytes:
    """Return the bytes of the file `path`, decompressed if they are gzipped.

    Examples
    --------
    >>> decompress(b"plain", Path("a")), decompress(gzip.compress(b"packed"), Path("a.gz"))
    (b'plain', b'packed')
    """
    if data[:2] != _GZIP_MAGIC:
        return data
    try:
        if len(data) * _MAX_RATIO > max_bytes():
            _check_decompressed_size(data, path)
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path} is a damaged or truncated gzip file; download it again.") from error


def max_content_bytes(path: Path) -> int:
    """Return how many bytes the content of a file may have if the file is gzipped."""
    return path.stat().st_size * _MAX_RATIO


def read_start(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of the content of a file, decompressed if it is gzipped; fewer if it is shorter.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.gz").write_bytes(gzip.compress(b"content"))
    ...     read_start(Path(folder, "a.gz"), 4)
    b'cont'
    """
    try:
        with path.open("rb") as file:
            is_gzipped = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            return (gzip.GzipFile(fileobj=file) if is_gzipped else file).read(n_bytes)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path} is a damaged or truncated gzip file; download it again.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _check_decompressed_size(data: bytes, path: Path) -> None:
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            check_bytes(size, path)
