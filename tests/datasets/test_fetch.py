"""Downloads from a server that disconnects, sends wrong data or cannot be reached."""

import gzip
import hashlib
import io
import resource
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.http_server import running_server
from helpers.processes import ENVIRONMENT, wait_for
from rich.console import Console

from scarce.datasets._download import download_file
from scarce.datasets._fetch import ensure, fetch
from scarce.datasets._files import DataFile, Download, FileSet
from scarce.errors import FetchError, FileError

CONTENT = np.random.default_rng(0).bytes(5000)
PACKED = gzip.compress(CONTENT, mtime=0)


def md5(data):
    return f"md5:{hashlib.md5(data).hexdigest()}"


@pytest.fixture
def server():
    with running_server() as server:
        server.files["cats.gz"] = PACKED
        yield server


def cats_file_set(*urls):
    return (FileSet(("pets",), (DataFile("cats", md5(CONTENT)),), (Download("cats.gz", urls, md5(PACKED)),)),)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else None


def test_fetch_downloads_only_once(server, cache):
    found = fetch(cats_file_set(f"{server.url}/cats.gz"))
    assert found.read("cats") == CONTENT
    assert files_in(cache / "pets") == ["cats.gz"]
    assert fetch(cats_file_set(f"{server.url}/cats.gz")) == found
    assert ensure(cats_file_set(), None, download=True).paths == found.paths
    assert server.requests == ["cats.gz"]


def test_fetch_writes_to_first_named_folder(server, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "ours").mkdir()
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path / "ours"))
    assert (
        fetch(cats_file_set(f"{server.url}/cats.gz"), tmp_path / "mine").folder == tmp_path / "mine" / "pets"
    )
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).folder == tmp_path / "ours" / "pets"


@pytest.mark.parametrize("sent", [PACKED[:-1] + b"?", PACKED + b"?", b""])
def test_fetch_discards_file_with_wrong_checksum(server, cache, sent):
    server.files["cats.gz"] = sent
    with pytest.raises(
        FileError, match=r"cats.gz could not be downloaded \(127.*wrong checksum\); .*--data-dir"
    ):
        fetch(cats_file_set(f"{server.url}/cats.gz"))
    assert files_in(cache) is None


def test_fetch_replaces_damaged_file(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz").write_bytes(PACKED[:-9])
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT


def test_fetch_names_damaged_file_that_blocks_download(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats").write_bytes(b"dogs")
    with pytest.raises(FileError, match=r"pets/cats is damaged and shadows the downloaded file; delete it"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))


def test_fetch_accepts_recompressed_file(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz").write_bytes(gzip.compress(CONTENT, 1, mtime=9))
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.requests == []


def test_fetch_retries_broken_download(server, cache):
    server.disconnects = [1000, 500]
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.requests == ["cats.gz"] * 3
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_gives_up_after_three_broken_downloads_and_leaves_nothing(server, cache):
    server.disconnects = [1000, 700, 0]
    with pytest.raises(FetchError, match=r"connection broke 3 times\); try again"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))
    assert server.requests == ["cats.gz"] * 3
    assert files_in(cache) is None


def test_fetch_rejects_truncated_file_without_checksum(server, cache):
    server.disconnects = [1000] * 3
    files = FileSet(("pets",), (DataFile("cats"),), (Download("cats.gz", (f"{server.url}/cats.gz",)),))
    with pytest.raises(FetchError, match="the connection broke 3 times"):
        fetch([files])
    assert files_in(cache) is None


def test_fetch_ignores_partial_file_of_another_program(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz.part").write_bytes(PACKED[:1000])
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert files_in(cache / "pets") == ["cats.gz", "cats.gz.part"]


KILLED_FETCH = """
import sys
from scarce.datasets._fetch import fetch
from scarce.datasets._files import DataFile, Download, FileSet
url, folder = sys.argv[1:]
fetch([FileSet(("pets",), (DataFile("cats"),), (Download("cats.gz", (url,)),))], folder)
"""


@pytest.mark.slow
def test_fetch_after_killed_fetch_leaves_only_the_file(server, tmp_path):
    content = CONTENT * 40
    server.files["cats.gz"] = gzip.compress(content, 0)
    server.stalls = True  # the process is killed in the middle of the download
    command = [sys.executable, "-c", KILLED_FETCH, f"{server.url}/cats.gz", str(tmp_path)]
    (tmp_path / "pets").mkdir()
    with subprocess.Popen(command, env=ENVIRONMENT) as process:
        wait_for(
            lambda: [path for path in (tmp_path / "pets").glob(".cats.gz.*") if path.stat().st_size], "bytes"
        )
        process.kill()
    assert len(files_in(tmp_path / "pets")) == 2  # the lock and half of the file
    server.stalls = False
    files = FileSet(("pets",), (DataFile("cats"),), (Download("cats.gz", (f"{server.url}/cats.gz",)),))
    assert fetch([files], tmp_path).read("cats") == content
    assert files_in(tmp_path / "pets") == ["cats.gz"]


def test_fetch_stores_gzip_file_as_served_despite_content_encoding(server, cache):
    server.headers["Content-Encoding"] = "gzip"
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert (cache / "pets" / "cats.gz").read_bytes() == PACKED


def test_fetch_writes_file_that_others_may_read(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "other").touch()
    path = fetch(cats_file_set(f"{server.url}/cats.gz")).paths["cats"]
    assert path.stat().st_mode == (cache / "pets" / "other").stat().st_mode


def test_fetch_to_full_disk_names_the_file_and_leaves_nothing(server, cache):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # no file may grow beyond that
    try:
        with pytest.raises(FileError, match=r"pets/cats\.gz cannot be written: File too large") as caught:
            fetch(cats_file_set(f"{server.url}/cats.gz", "http://127.0.0.1:1/cats.gz"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(caught.value.__cause__, OSError)
    assert server.requests == ["cats.gz"]
    assert files_in(cache) is None


def test_download_shows_progress_on_a_terminal(server, tmp_path, monkeypatch):
    console = Console(record=True, force_terminal=True, width=120, file=io.StringIO())
    monkeypatch.setattr("scarce._console._PrintableConsole", lambda **_: console)
    download_file(f"{server.url}/cats.gz", tmp_path / "cats.gz", md5(PACKED))
    assert console.export_text().rstrip().endswith("5.0/5.0 kB 0:00:00")


def test_fetch_downloads_once_for_concurrent_calls(server, cache):
    server.files["cats.gz"] = packed = gzip.compress(CONTENT * 400, mtime=0)
    files = FileSet(
        ("pets",),
        (DataFile("cats", md5(CONTENT * 400)),),
        (Download("cats.gz", (f"{server.url}/cats.gz",), md5(packed)),),
    )
    with ThreadPoolExecutor(6) as pool:  # file locks work between threads as between processes
        found = list(pool.map(lambda _: fetch([files]), range(6)))
    assert all(each.read("cats") == CONTENT * 400 for each in found)
    assert server.requests == ["cats.gz"]
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_succeeds_after_concurrent_call_failed(server, cache):
    server.disconnects = [0] * 6  # two of three calls receive nothing
    with ThreadPoolExecutor(3) as pool:
        tries = [pool.submit(fetch, cats_file_set(f"{server.url}/cats.gz")) for _ in range(3)]
    errors = [each.exception() for each in tries]
    assert sum(error is None for error in errors) == 1
    assert all("the connection broke 3 times" in str(error) for error in errors if error)
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_tries_next_url_after_failure(server):
    server.files["good/cats.gz"], server.files["bad/cats.gz"] = PACKED, b"dogs"
    urls = [f"{server.url}/{folder}cats.gz" for folder in ("none/", "bad/", "good/")]
    assert fetch(cats_file_set(*urls)).read("cats") == CONTENT
    assert server.requests == ["none/cats.gz", "bad/cats.gz", "good/cats.gz"]


def test_fetch_names_every_url_if_all_fail(server, cache):
    with pytest.raises(FileError) as caught:
        fetch(cats_file_set(f"{server.url}/none.gz", "http://127.0.0.1:1/cats.gz"))
    text = str(caught.value)
    assert "the server answered 404 Not Found; 127.0.0.1:1: no connection (Connection refused)" in text
    assert f"put the file into {cache / 'pets'} yourself" in text
    assert "\n" not in text


def test_fetch_rejects_web_page(server):
    server.headers["Content-Type"] = "text/html; charset=utf-8"
    without_checksum = FileSet(
        ("pets",), (DataFile("cats"),), (Download("cats.gz", (f"{server.url}/cats.gz",)),)
    )
    with pytest.raises(FileError, match="sent a web page instead of the file"):
        fetch([without_checksum])


def test_ensure_without_download_sends_no_request(server, cache):
    with pytest.raises(
        FileError, match=f"not found: cats; put them into {cache}/pets, .*`scarce data fetch`"
    ):
        ensure(cats_file_set(f"{server.url}/cats.gz"), None, download=False)
    with pytest.raises(FileError, match="no URL is known to download them from"):
        fetch([FileSet(("pets",), (DataFile("cats"),))])
    assert server.requests == []


def test_fetch_rejects_folder_that_cannot_be_written(server, cache):
    cache.mkdir()
    (cache / "pets").write_text("a file")
    with pytest.raises(FileError, match="pets cannot be written"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))


def archive(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as members_file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            members_file.addfile(info, io.BytesIO(content))
    return file.getvalue()


def pets_archive(server, content, checksum=True):
    server.files["pets.tar.gz"] = content
    download = Download("pets.tar.gz", (f"{server.url}/pets.tar.gz",), md5(content) if checksum else None)
    return [FileSet(("pets",), (DataFile("cats"), DataFile("dogs")), (download,))]


def test_fetch_extracts_only_needed_archive_members_into_folder(server, tmp_path, cache):
    found = fetch(
        pets_archive(server, archive({"../../cats": b"miaow", "a/b/dogs": b"woof", "cows": b"moo"}))
    )
    assert (found.read("cats"), found.read("dogs")) == (b"miaow", b"woof")
    assert files_in(cache / "pets") == ["cats", "dogs"]
    assert files_in(tmp_path) == ["cache"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (archive({"cats": b"miaow"}), "pets.tar.gz lacks dogs"),
        (archive({"cats": CONTENT, "dogs": CONTENT[::-1]})[:6000], "damaged or truncated"),
        (b"no archive", "damaged or truncated"),
    ],
    ids=[
        "incomplete",
        "truncated",
        "none",
    ],  # archives contain their creation time, which would change the ids
)
def test_fetch_discards_faulty_archive(server, cache, content, part):
    with pytest.raises(FileError, match=part):
        fetch(pets_archive(server, content, checksum=False))
    assert files_in(cache / "pets") in (None, ["cats"])
