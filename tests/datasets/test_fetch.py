"""Downloads from a server that disconnects, ignores ranges, sends wrong data or cannot be reached."""

import gzip
import hashlib
import io
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.http_server import running_server

from scarce.datasets._fetch import ensure, fetch
from scarce.datasets._files import DataFile, Download, FileSet
from scarce.errors import FileError

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
    assert server.requests == [("cats.gz", None)]


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
        FileError, match=r"cats.gz could not be fetched \(127.*wrong checksum\); .*--data-dir"
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
    with pytest.raises(FileError, match=r"pets/cats is damaged, and in the way of the right one; remove it"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))


def test_fetch_accepts_recompressed_file(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz").write_bytes(gzip.compress(CONTENT, 1, mtime=9))
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.requests == []


def test_fetch_resumes_broken_download(server, cache):
    server.disconnects = [1000, 500]
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-", "bytes=1500-"]
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_keeps_partial_file_for_next_call(server, cache):
    server.disconnects = [1000, 0]
    with pytest.raises(FileError, match=f"cut off after 1,000 bytes .of {len(PACKED):,}"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))
    assert files_in(cache / "pets") == ["cats.gz.part"]
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.requests[-1] == ("cats.gz", "bytes=1000-")
    assert files_in(cache / "pets") == ["cats.gz"]


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
    assert server.requests == [("cats.gz", None)]
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_retries_after_concurrent_call_failed(server, cache):
    server.disconnects = [0, 0]  # two of three requests get no data
    with ThreadPoolExecutor(3) as pool:
        tries = [pool.submit(fetch, cats_file_set(f"{server.url}/cats.gz")) for _ in range(3)]
    errors = [each.exception() for each in tries]
    assert sum(error is None for error in errors) == 1
    assert all("cut off after 0 bytes" in str(error) for error in errors if error)
    assert files_in(cache / "pets") == ["cats.gz"]


def test_fetch_restarts_if_server_ignores_ranges(server):
    server.supports_ranges, server.disconnects = False, [1000]
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000-"]


def test_fetch_discards_partial_file_that_is_too_long(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz.part").write_bytes(PACKED + b"more")
    assert fetch(cats_file_set(f"{server.url}/cats.gz")).read("cats") == CONTENT


def test_fetch_rejects_wrong_range(server):
    server.range_offset, server.disconnects = 7, [1000]
    with pytest.raises(FileError, match="from byte 1007 on, not from 1000"):
        fetch(cats_file_set(f"{server.url}/cats.gz"))


def test_fetch_tries_next_url_after_failure(server):
    server.files["good/cats.gz"], server.files["bad/cats.gz"] = PACKED, b"dogs"
    urls = [f"{server.url}/{folder}cats.gz" for folder in ("none/", "bad/", "good/")]
    assert fetch(cats_file_set(*urls)).read("cats") == CONTENT
    assert [name for name, _ in server.requests] == ["none/cats.gz", "bad/cats.gz", "good/cats.gz"]


def test_fetch_names_every_url_if_all_fail(server, cache):
    with pytest.raises(FileError) as caught:
        fetch(cats_file_set(f"{server.url}/none.gz", "http://127.0.0.1:1/cats.gz"))
    text = str(caught.value)
    assert "the server answered 404 Not Found; 127.0.0.1:1: no connection (" in text
    assert f"put the file into {cache / 'pets'} yourself" in text
    assert "\n" not in text


def test_fetch_rejects_web_page(server):
    server.content_type = "text/html; charset=utf-8"
    without_checksum = FileSet(
        ("pets",), (DataFile("cats"),), (Download("cats.gz", (f"{server.url}/cats.gz",)),)
    )
    with pytest.raises(FileError, match="sent a web page in place of the file"):
        fetch([without_checksum])


def test_ensure_without_download_sends_no_request(server, cache):
    with pytest.raises(
        FileError, match=f"not found: cats; put them into {cache}/pets, .*`scarce data fetch`"
    ):
        ensure(cats_file_set(f"{server.url}/cats.gz"), None, download=False)
    with pytest.raises(FileError, match="there is no home to fetch them from"):
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
        (archive({"cats": CONTENT, "dogs": CONTENT[::-1]})[:6000], "damaged or cut short"),
        (b"no archive", "damaged or cut short"),
    ],
    ids=[
        "incomplete",
        "cut short",
        "none",
    ],  # archives hold the time they were made, which would change the ids
)
def test_fetch_discards_faulty_archive(server, cache, content, part):
    with pytest.raises(FileError, match=part):
        fetch(pets_archive(server, content, checksum=False))
    assert files_in(cache / "pets") in (None, ["cats"])
