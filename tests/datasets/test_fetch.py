"""Downloads against a server that breaks off, forgets, lies or is not there."""

import gzip
import hashlib
import io
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.http_server import serving

from scarce.datasets._fetch import fetch, require
from scarce.datasets._files import DataFile, Download, FileSet
from scarce.errors import FileError

CONTENT = np.random.default_rng(0).bytes(5000)
PACKED = gzip.compress(CONTENT, mtime=0)


def md5(data):
    return f"md5:{hashlib.md5(data).hexdigest()}"


@pytest.fixture
def server():
    with serving() as server:
        server.files["cats.gz"] = PACKED
        yield server


def cats(*urls):
    return (FileSet(("pets",), (DataFile("cats", md5(CONTENT)),), (Download("cats.gz", urls, md5(PACKED)),)),)


def left_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else None


def test_fetched_once_and_checked(server, cache):
    found = fetch(cats(f"{server.url}/cats.gz"))
    assert found.read("cats") == CONTENT
    assert left_in(cache / "pets") == ["cats.gz"]
    assert fetch(cats(f"{server.url}/cats.gz")) == found
    assert require(cats(), None, download=True).paths == found.paths
    assert server.asked == [("cats.gz", None)]


def test_downloads_go_to_the_first_folder_that_is_named(server, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "ours").mkdir()
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path / "ours"))
    assert fetch(cats(f"{server.url}/cats.gz"), tmp_path / "mine").folder == tmp_path / "mine" / "pets"
    assert fetch(cats(f"{server.url}/cats.gz")).folder == tmp_path / "ours" / "pets"


@pytest.mark.parametrize("sent", [PACKED[:-1] + b"?", PACKED + b"?", b""])
def test_what_has_the_wrong_checksum_is_not_kept(server, cache, sent):
    server.files["cats.gz"] = sent
    with pytest.raises(
        FileError, match=r"cats.gz could not be fetched \(127.*wrong checksum\); .*--data-dir"
    ):
        fetch(cats(f"{server.url}/cats.gz"))
    assert left_in(cache) is None


def test_a_damaged_file_is_replaced(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz").write_bytes(PACKED[:-9])
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT


def test_a_file_in_the_way_is_named(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats").write_bytes(b"dogs")
    with pytest.raises(FileError, match=r"pets/cats is damaged, and in the way of the right one; remove it"):
        fetch(cats(f"{server.url}/cats.gz"))


def test_a_recompressed_file_is_as_good(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz").write_bytes(gzip.compress(CONTENT, 1, mtime=9))
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.asked == []


def test_cut_off_goes_on_where_it_stopped(server, cache):
    server.cuts = [1000, 500]
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert [wanted for _, wanted in server.asked] == [None, "bytes=1000-", "bytes=1500-"]
    assert left_in(cache / "pets") == ["cats.gz"]


def test_cut_off_for_good_leaves_what_there_is_for_the_next_time(server, cache):
    server.cuts = [1000, 0]
    with pytest.raises(FileError, match=f"cut off after 1,000 bytes .of {len(PACKED):,}"):
        fetch(cats(f"{server.url}/cats.gz"))
    assert left_in(cache / "pets") == ["cats.gz.part"]
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert server.asked[-1] == ("cats.gz", "bytes=1000-")
    assert left_in(cache / "pets") == ["cats.gz"]


def test_of_many_at_once_one_fetches_and_the_others_find_it_done(server, cache):
    server.files["cats.gz"] = packed = gzip.compress(CONTENT * 400, mtime=0)
    files = FileSet(
        ("pets",),
        (DataFile("cats", md5(CONTENT * 400)),),
        (Download("cats.gz", (f"{server.url}/cats.gz",), md5(packed)),),
    )
    with ThreadPoolExecutor(6) as pool:  # a lock on a file holds between threads as it does between processes
        found = list(pool.map(lambda _: fetch([files]), range(6)))
    assert all(each.read("cats") == CONTENT * 400 for each in found)
    assert server.asked == [("cats.gz", None)]
    assert left_in(cache / "pets") == ["cats.gz"]


def test_one_that_waits_for_a_fetch_that_fails_tries_itself(server, cache):
    server.cuts = [0, 0]  # two of three get nothing at all
    with ThreadPoolExecutor(3) as pool:
        tries = [pool.submit(fetch, cats(f"{server.url}/cats.gz")) for _ in range(3)]
    errors = [each.exception() for each in tries]
    assert sum(error is None for error in errors) == 1
    assert all("cut off after 0 bytes" in str(error) for error in errors if error)
    assert left_in(cache / "pets") == ["cats.gz"]


def test_a_server_that_ignores_ranges_sends_the_whole(server):
    server.knows_ranges, server.cuts = False, [1000]
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT
    assert [wanted for _, wanted in server.asked] == [None, "bytes=1000-"]


def test_the_part_of_a_longer_file_is_thrown_away(server, cache):
    (cache / "pets").mkdir(parents=True)
    (cache / "pets" / "cats.gz.part").write_bytes(PACKED + b"more")
    assert fetch(cats(f"{server.url}/cats.gz")).read("cats") == CONTENT


def test_a_range_that_was_not_asked_for_is_refused(server):
    server.shift, server.cuts = 7, [1000]
    with pytest.raises(FileError, match="from byte 1007 on, not from 1000"):
        fetch(cats(f"{server.url}/cats.gz"))


def test_the_second_home_helps_out(server):
    server.files["good/cats.gz"], server.files["bad/cats.gz"] = PACKED, b"dogs"
    urls = [f"{server.url}/{folder}cats.gz" for folder in ("none/", "bad/", "good/")]
    assert fetch(cats(*urls)).read("cats") == CONTENT
    assert [name for name, _ in server.asked] == ["none/cats.gz", "bad/cats.gz", "good/cats.gz"]


def test_every_home_is_named_when_all_fail(server, cache):
    with pytest.raises(FileError) as caught:
        fetch(cats(f"{server.url}/none.gz", "http://127.0.0.1:1/cats.gz"))
    text = str(caught.value)
    assert "the server answered 404 Not Found; 127.0.0.1:1: no connection (" in text
    assert f"put the file into {cache / 'pets'} yourself" in text
    assert "\n" not in text


def test_a_web_page_is_no_data(server):
    server.kind = "text/html; charset=utf-8"
    without_checksum = FileSet(
        ("pets",), (DataFile("cats"),), (Download("cats.gz", (f"{server.url}/cats.gz",)),)
    )
    with pytest.raises(FileError, match="sent a web page in place of the file"):
        fetch([without_checksum])


def test_without_download_nothing_is_asked_for(server, cache):
    with pytest.raises(
        FileError, match=f"not found: cats; put them into {cache}/pets, .*`scarce data fetch`"
    ):
        require(cats(f"{server.url}/cats.gz"), None, download=False)
    with pytest.raises(FileError, match="there is no home to fetch them from"):
        fetch([FileSet(("pets",), (DataFile("cats"),))])
    assert server.asked == []


def test_a_folder_that_cannot_be_written(server, cache):
    cache.mkdir()
    (cache / "pets").write_text("a file")
    with pytest.raises(FileError, match="pets cannot be written"):
        fetch(cats(f"{server.url}/cats.gz"))


def archive(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as members_file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            members_file.addfile(info, io.BytesIO(content))
    return file.getvalue()


def pets(server, content, checksum=True):
    server.files["pets.tar.gz"] = content
    download = Download("pets.tar.gz", (f"{server.url}/pets.tar.gz",), md5(content) if checksum else None)
    return [FileSet(("pets",), (DataFile("cats"), DataFile("dogs")), (download,))]


def test_archives_give_only_what_is_needed_and_only_into_their_folder(server, tmp_path, cache):
    found = fetch(pets(server, archive({"../../cats": b"miaow", "a/b/dogs": b"woof", "cows": b"moo"})))
    assert (found.read("cats"), found.read("dogs")) == (b"miaow", b"woof")
    assert left_in(cache / "pets") == ["cats", "dogs"]
    assert left_in(tmp_path) == ["cache"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (archive({"cats": b"miaow"}), "pets.tar.gz lacks dogs"),
        (archive({"cats": CONTENT, "dogs": CONTENT[::-1]})[:6000], "damaged or cut short"),
        (b"no archive", "damaged or cut short"),
    ],
    ids=["incomplete", "cut short", "none"],  # bytes of an archive tell the time it was made
)
def test_archives_with_faults_are_not_kept(server, cache, content, part):
    with pytest.raises(FileError, match=part):
        fetch(pets(server, content, checksum=False))
    assert left_in(cache / "pets") in (None, ["cats"])
