"""Find the files of data sets, and download those that are missing from the first mirror that works."""

import gzip
import shutil
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from scarce._io.atomic import atomic_write
from scarce.datasets._download import DownloadError, download_file
from scarce.datasets._files import Download, FileSet, LocatedFiles, download_dir, find_file_set, locate_files
from scarce.datasets._folders import locked_dir
from scarce.errors import FetchError, FileError


def ensure(alternatives: Sequence[FileSet], data_dir: str | Path | None, download: bool) -> LocatedFiles:
    """Return the location of one of several alternative sets of files; if none is complete, download one, or raise an error."""
    found = find_file_set(alternatives, data_dir)
    if not found.missing:
        return found
    if not download:
        raise FileError(f"{_missing_message(found)}; or download them with `scarce data fetch`.")
    return fetch(alternatives, data_dir)


def fetch(alternatives: Sequence[FileSet], data_dir: str | Path | None = None) -> LocatedFiles:
    """Download the missing and damaged files of a set, and return the location of all its files."""
    found = find_file_set(alternatives, data_dir)
    if not found.missing and not found.wrong:
        return found
    files = next((files for files in alternatives if files.downloads), None)
    if files is None:
        raise FileError(f"{_missing_message(found)}; no URL is known to download them from.")
    folder = download_dir(data_dir) / files.folders[0]
    try:
        with locked_dir(folder):
            for download in files.downloads:
                if not _is_present(download, locate_files(folder, files)):
                    _download(download, folder)
                    if download.name.endswith(".tar.gz"):
                        _extract(folder / download.name, files, folder)
    except OSError as error:
        raise FileError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}."
        ) from error
    fetched = locate_files(folder, files)
    for name in fetched.wrong:
        raise FileError(f"{fetched.paths[name]} is damaged and shadows the downloaded file; delete it.")
    return fetched


def _missing_message(found: LocatedFiles) -> str:
    return (
        f"not found: {', '.join(found.missing)}; put them into {found.folder}, or name their folder with "
        "data_dir= (--data-dir)"
    )


def _is_present(download: Download, found: LocatedFiles) -> bool:
    names = {file.name for file in found.files.files}
    wanted = (
        names & {download.name, download.name.removesuffix(".gz")} or names
    )  # else it is an archive of all files
    return all(name in found.paths and found.state(name) != "wrong" for name in wanted)


def _download(download: Download, folder: Path) -> None:
    if (folder / download.name).is_dir():
        raise FileError(
            f"{folder / download.name} is a folder; expected a file: delete it or choose another data_dir= (--data-dir)."
        )
    failures = []
    for url in download.urls:
        try:
            download_file(url, folder / download.name, download.checksum)
            return
        except DownloadError as error:
            failures.append(f"{urlsplit(url).netloc}: {error}")
    raise FetchError(
        f"{download.name} could not be downloaded ({'; '.join(failures)}); try again later, put the file into {folder} "
        "yourself, or name its folder with data_dir= (--data-dir)."
    )


def _extract(archive: Path, files: FileSet, folder: Path) -> None:
    """Extract the files of a set from an archive into one folder, and delete the archive."""
    # Not `extractall`: folders of the archive are ignored, and no name can lead out of the folder.
    wanted = {file.name for file in files.files}
    try:
        with tarfile.open(archive) as members:
            for member in members:
                name = PurePosixPath(member.name).name
                content = members.extractfile(member) if name in wanted else None
                if content is not None:
                    with atomic_write(folder / name, force=True) as temporary, temporary.open("wb") as file:
                        shutil.copyfileobj(content, file)
                    wanted.discard(name)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FetchError(
            f"{archive.name} is damaged or truncated; download it again with `scarce data fetch`."
        ) from error
    finally:
        archive.unlink()
    if wanted:
        raise FetchError(
            f"{archive.name} lacks {', '.join(sorted(wanted))}: the server sent the wrong file; try again later."
        )
