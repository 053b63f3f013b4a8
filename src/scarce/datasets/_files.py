"""Sets of files: their names, checksums and URLs, and where to search for them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from scarce._hashing import matches_checksum
from scarce._io.compressed import decompress, read_content
from scarce._io.paths import check_dir
from scarce.errors import FileError

FileState = Literal["right", "wrong", "unchecked"]
DATA_VARIABLE = "SCARCE_DATA"
_SYSTEM = Path("/usr/share/datasets")  # where the Debian package dataset-fashion-mnist puts its files
_MAX_IDENTIFYING_BYTES = 100_000


@dataclass(frozen=True)
class DataFile:
    """A file by its usual name, with the checksum (``sha256:…``, ``md5:…``) of its decompressed content."""

    name: str
    checksum: str | None = None


@dataclass(frozen=True)
class Download:
    """A file as served, with its URLs, which are tried in turn, and the checksum of the served bytes."""

    name: str
    urls: tuple[str, ...]
    checksum: str | None = None


@dataclass(frozen=True)
class FileSet:
    """Files that belong together.

    Attributes
    ----------
    folders : tuple of str
        The usual names of their folder; downloads go to the first.
    files : tuple of DataFile
        The files, all of which are needed.
    downloads : tuple of Download
        What to download: the files, gzipped or not, or one ``.tar.gz`` that holds them all. Empty if no URL is known.
    """

    folders: tuple[str, ...]
    files: tuple[DataFile, ...]
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True)
class LocatedFiles:
    """Where the files of a set were found.

    Attributes
    ----------
    files : FileSet
        The files that belong together.
    folder : Path
        The folder they were found in, or the one that downloads go to if there are none.
    paths : mapping of str to Path
        The paths of the files that were found, by name.

    See Also
    --------
    find_dataset : Locate the files of a data set.
    fetch_dataset : Download the missing files of a data set.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "a")
    ...     _ = path.write_bytes(b"")
    ...     files = FileSet(("x",), (DataFile("a", "md5:d41d8cd98f00b204e9800998ecf8427e"),))
    ...     LocatedFiles(files, Path(folder), {"a": path}).state("a")
    'right'
    """

    files: FileSet
    folder: Path
    paths: Mapping[str, Path]

    @property
    def missing(self) -> list[str]:
        """The names of the files that were not found."""
        return [file.name for file in self.files.files if file.name not in self.paths]

    @property
    def wrong(self) -> list[str]:
        """The names of the files with a wrong checksum."""
        return [name for name in self.paths if self.state(name) == "wrong"]

    def state(self, name: str) -> FileState:
        """Return the state of a file by its checksum; ``"unchecked"`` if no checksum is known."""
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
            return "right" if matches_checksum(decompress(served, path), checksum) else "wrong"
        except (OSError, FileError):
            return "wrong"

    def read(self, name: str) -> bytes:
        """Return the decompressed content of a file, or raise `FileError` if its checksum is wrong."""
        content, checksum = read_content(self.paths[name]), self._checksum(name)
        if checksum is not None and not matches_checksum(content, checksum):
            raise FileError(
                f"{self.paths[name]} has the wrong checksum: it is damaged or the wrong file; delete it, then download it again "
                "with `scarce data fetch`."
            )
        return content

    def _checksum(self, name: str) -> str | None:
        return next(file.checksum for file in self.files.files if file.name == name)


def cache_dir() -> Path:
    """Return the cache folder of the user, where downloads go if no folder is given."""
    return platformdirs.user_cache_path("scarce")


def search_dirs(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to search, in this order: `data_dir`, ``$SCARCE_DATA``, ``/usr/share/datasets``, the user's cache.

    Examples
    --------
    >>> search_dirs("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    named = [check_dir(data_dir)] if data_dir else []
    if variable := os.environ.get(DATA_VARIABLE):
        if not Path(variable).is_dir():
            raise FileError(
                f"${DATA_VARIABLE} is {variable}, which is not a folder; set it to one, or unset it."
            )
        named.append(Path(variable))
    return [*named, _SYSTEM, cache_dir()]


def download_dir(data_dir: str | Path | None = None) -> Path:
    """Return the folder that downloads go to: `data_dir`, ``$SCARCE_DATA`` or the user's cache.

    Examples
    --------
    >>> download_dir("photos").name
    'photos'
    """
    return Path(data_dir or os.environ.get(DATA_VARIABLE) or cache_dir())


def find_file_set(alternatives: Sequence[FileSet], data_dir: str | Path | None = None) -> LocatedFiles:
    """Return the first set of files that is complete, else the one with the most files found.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.datasets._files import DataFile
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "pets").mkdir()
    ...     _ = Path(folder, "pets", "cats.gz").write_bytes(b"")
    ...     found = find_file_set([FileSet(("pets",), (DataFile("cats"), DataFile("dogs")))], folder)
    >>> found.paths["cats"].name, found.missing
    ('cats.gz', ['dogs'])
    """
    files = next((files for files in alternatives if files.downloads), alternatives[0])
    best = LocatedFiles(files, download_dir(data_dir) / files.folders[0], {})
    for base in search_dirs(data_dir):
        for files in alternatives:
            for folder in (*(base / name for name in files.folders), base):
                found = locate_files(folder, files)
                if len(found.paths) > len(best.paths) and (folder != base or _matches_checksums(found)):
                    best = found
                    if not found.missing:
                        return found
    return best


def _matches_checksums(found: LocatedFiles) -> bool:
    """Return whether the small files that were found have the right checksums.

    Without a folder name, only checksums distinguish MNIST, Fashion-MNIST and KMNIST, whose files have the same names.
    """
    small = (name for name, path in found.paths.items() if path.stat().st_size < _MAX_IDENTIFYING_BYTES)
    return all(found.state(name) != "wrong" for name in small)


def locate_files(folder: Path, files: FileSet) -> LocatedFiles:
    """Return which files of a set are in a folder."""
    return LocatedFiles(
        files, folder, {file.name: path for file in files.files if (path := locate_file(folder, file.name))}
    )


def locate_file(folder: Path, name: str) -> Path | None:
    """Return the path of a file in a folder, gzipped or not, or None.

    Examples
    --------
    >>> locate_file(Path("nowhere"), "train-images-idx3-ubyte") is None
    True
    """
    # Some mirrors replace a dash in the name with a dot.
    for stem in (name, name.replace("-idx", ".idx")):
        for path in (folder / stem, folder / f"{stem}.gz"):
            if os.path.isfile(path):  # false, not an error, without permission  # noqa: PTH113
                return path
    return None
