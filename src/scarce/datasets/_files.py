"""Files that belong together, where they come from, and what they must hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scarce._hashing import matches_checksum
from scarce._io.compressed import read_content, unpacked
from scarce.errors import FileError

__all__ = ["DataFile", "Download", "FileSet", "FileState", "Found"]

FileState = Literal["right", "wrong", "unchecked"]


@dataclass(frozen=True)
class DataFile:
    """A file by its usual name; the checksum (``sha256:…``, ``md5:…``) is of what it holds when unpacked."""

    name: str
    checksum: str | None = None


@dataclass(frozen=True)
class Download:
    """A file as its homes serve it; the addresses are tried in turn, the checksum is of the file as served."""

    name: str
    urls: tuple[str, ...]
    checksum: str | None = None


@dataclass(frozen=True)
class FileSet:
    """Files that belong together.

    Attributes
    ----------
    folders : tuple of str
        The folders they usually lie in; the first is where they are put when fetched.
    files : tuple of DataFile
        All are needed.
    downloads : tuple of Download
        What to fetch: the files, gzipped or not, or one ``.tar.gz`` that holds them all. Empty if they have no home.
    """

    folders: tuple[str, ...]
    files: tuple[DataFile, ...]
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True)
class Found:
    """A set of files, and where those that are there are.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "a")
    ...     _ = path.write_bytes(b"")
    ...     files = FileSet(("x",), (DataFile("a", "md5:d41d8cd98f00b204e9800998ecf8427e"),))
    ...     Found(files, Path(folder), {"a": path}).state("a")
    'right'
    """

    files: FileSet
    folder: Path
    paths: Mapping[str, Path]

    @property
    def missing(self) -> list[str]:
        """The names of the files that are not there."""
        return [file.name for file in self.files.files if file.name not in self.paths]

    @property
    def wrong(self) -> list[str]:
        """The names of the files that do not hold what they should."""
        return [name for name in self.paths if self.state(name) == "wrong"]

    def state(self, name: str) -> FileState:
        """Tell whether a file holds what it should; unchecked if nobody knows what that is."""
        path = self.paths[name]
        try:
            served = path.read_bytes()
            downloads = (download for download in self.files.downloads if download.name == path.name)
            if any(
                download.checksum and matches_checksum(served, download.checksum) for download in downloads
            ):
                return "right"
            checksum = self._checksum(name)
            if checksum is None:
                return "unchecked"
            return "right" if matches_checksum(unpacked(served, path), checksum) else "wrong"
        except (OSError, FileError):
            return "wrong"

    def read(self, name: str) -> bytes:
        """Return what a file holds, unpacked and checked."""
        content, checksum = read_content(self.paths[name]), self._checksum(name)
        if checksum is not None and not matches_checksum(content, checksum):
            raise FileError(
                f"{self.paths[name]} is damaged or another file: its checksum is wrong; remove it, then get it again "
                "with `scarce data fetch`."
            )
        return content

    def _checksum(self, name: str) -> str | None:
        return next(file.checksum for file in self.files.files if file.name == name)
