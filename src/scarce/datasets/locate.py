"""Where the files of data sets are looked for."""

import os
from collections.abc import Sequence
from pathlib import Path

import pooch

from scarce._io.paths import check_dir
from scarce.datasets._files import FileSet, Found
from scarce.errors import FileError

__all__ = ["DATA_VARIABLE", "cache_folder", "file_in", "files_in", "find", "places", "target_folder"]

DATA_VARIABLE = "SCARCE_DATA"
_SYSTEM = Path("/usr/share/datasets")  # of the Debian package dataset-fashion-mnist
_SMALL = 100_000


def cache_folder() -> Path:
    """Return the user's cache, where downloads go if no folder is named."""
    return Path(pooch.os_cache("scarce"))


def places(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to look in, in this order: `data_dir`, ``$SCARCE_DATA``, the system's, the user's cache.

    Examples
    --------
    >>> places("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    named = [check_dir(data_dir)] if data_dir else []
    if variable := os.environ.get(DATA_VARIABLE):
        if not Path(variable).is_dir():
            raise FileError(f"${DATA_VARIABLE} is {variable}, which is no folder; name one, or unset it.")
        named.append(Path(variable))
    return [*named, _SYSTEM, cache_folder()]


def target_folder(data_dir: str | Path | None = None) -> Path:
    """Return the folder that downloads go to: `data_dir`, ``$SCARCE_DATA`` or the user's cache.

    Examples
    --------
    >>> target_folder("photos").name
    'photos'
    """
    return Path(data_dir or os.environ.get(DATA_VARIABLE) or cache_folder())


def find(alternatives: Sequence[FileSet], data_dir: str | Path | None = None) -> Found:
    """Return the first of the sets that is there in full, or else the one of which most is there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.datasets._files import DataFile
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "pets").mkdir()
    ...     _ = Path(folder, "pets", "cats.gz").write_bytes(b"")
    ...     found = find([FileSet(("pets",), (DataFile("cats"), DataFile("dogs")))], folder)
    >>> found.paths["cats"].name, found.missing
    ('cats.gz', ['dogs'])
    """
    files = next((files for files in alternatives if files.downloads), alternatives[0])
    best = Found(files, target_folder(data_dir) / files.folders[0], {})
    for place in places(data_dir):
        for files in alternatives:
            for folder in (*(place / name for name in files.folders), place):
                found = files_in(folder, files)
                if len(found.paths) > len(best.paths) and (folder != place or _is_this(found)):
                    best = found
                    if not found.missing:
                        return found
    return best


def _is_this(found: Found) -> bool:
    """Tell by the checksums of small files whether a set is this one, where no folder says so.

    MNIST and its relatives share the names of their files.
    """
    small = (name for name, path in found.paths.items() if path.stat().st_size < _SMALL)
    return all(found.state(name) != "wrong" for name in small)


def files_in(folder: Path, files: FileSet) -> Found:
    """Return which files of a set are in a folder."""
    return Found(
        files, folder, {file.name: path for file in files.files if (path := file_in(folder, file.name))}
    )


def file_in(folder: Path, name: str) -> Path | None:
    """Return the path of a file in a folder, gzipped or not, or None.

    Examples
    --------
    >>> file_in(Path("nowhere"), "train-images-idx3-ubyte") is None
    True
    """
    # Some mirrors write a dot where the original has a dash.
    for stem in (name, name.replace("-idx", ".idx")):
        for path in (folder / stem, folder / f"{stem}.gz"):
            if os.path.isfile(path):  # false, not an error, for folders that are closed to us  # noqa: PTH113
                return path
    return None
