"""Files that may be gzipped."""

import gzip
import zlib
from pathlib import Path

from scarce.errors import FileError

__all__ = ["read_content", "decompress"]

_GZIP_MAGIC = b"\x1f\x8b"


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
    try:
        return gzip.decompress(data) if data[:2] == _GZIP_MAGIC else data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path} is a damaged or truncated gzip file; download it again.") from error
