"""``scarce data``, with a registry of two small data sets."""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from helpers.command_line import RunCommand, RunExpectingError
from helpers.http_server import Server, running_server

from scarce.datasets import DatasetFacts, registry
from scarce.datasets import _files as locate
from scarce.datasets._files import DataFile, Download, FileSet


def md5(data: bytes) -> str:
    return f"md5:{hashlib.md5(data).hexdigest()}"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with the files of the data sets pets and birds, which replace the usual ones."""
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(locate, "_SYSTEM", tmp_path / "system")

    def files(folder: str, *names: str) -> FileSet:
        contents = {name: name.encode() * 9 for name in names}
        downloads = []
        for name, content in contents.items():
            packed = gzip.compress(content, mtime=0)
            server.files[f"{name}.gz"] = packed
            downloads.append(Download(f"{name}.gz", (f"{server.url}/{name}.gz",), md5(packed)))
        sums = tuple(DataFile(name, md5(content)) for name, content in contents.items())
        return FileSet((folder,), sums, tuple(downloads))

    with running_server() as server:
        pets, tits = files("pets", "cats", "dogs"), FileSet(("birds",), (DataFile("tits"),))
        datasets = {"digits": registry.DATASETS["digits"]}
        for name, needs in (("pets", ((pets,),)), ("birds", ((pets,), (tits,)))):
            datasets[name] = DatasetFacts("", 1200, 34, 5, (3, 6, 7), needs, dict)
        monkeypatch.setattr(registry, "DATASETS", datasets)
        yield server


def rows(out: str) -> list[list[str]]:
    """The cells of a table, with long folder names that continue on the next line joined."""
    found: list[list[str]] = []
    for line in out.splitlines():
        if line.startswith(" "):
            found[-1][-1] += line.strip()
        else:
            found.append(line.split())
    return found


@pytest.mark.usefixtures("server")
def test_data_list_shows_where_data_sets_are(
    tmp_path: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("data", "list")
    assert (result.code, result.err) == (0, "")
    assert [" ".join(row) for row in rows(result.out)[1:]] == [
        "digits 10 1,198 + 599 8 × 8 comes with scikit-learn",
        "pets 5 1,200 + 34 3 × 6 × 7 not found",
        "birds 5 1,200 + 34 3 × 6 × 7 not found",
    ]
    monkeypatch.chdir(tmp_path)  # for a short path
    assert run("data", "fetch", "pets", "--data-dir", "d").out == "pets: d/pets\n"
    lines = rows(run("data", "list", "--data-dir", "d").out)
    assert [line[-1] for line in lines[2:]] == ["d/pets", "found"]


def test_data_fetch_then_verify_succeeds(server: Server, tmp_path: Path, run: RunCommand) -> None:
    assert run("data", "fetch", "pets", "digits") == (
        0,
        f"pets: {tmp_path / 'cache' / 'pets'}\ndigits: comes with scikit-learn\n",
        "",
    )
    del server.files["cats.gz"]  # not downloaded again
    assert run("data", "fetch", "pets").code == 0
    folder = str(tmp_path / "cache" / "pets")
    result = run("data", "verify")
    assert result.code == 0
    assert rows(result.out) == [
        ["file", "state", "folder"],
        ["cats", "right", folder],
        ["dogs", "right", folder],
    ]


def test_data_verify_fails_for_wrong_or_missing_files(
    server: Server, tmp_path: Path, run: RunCommand
) -> None:
    assert run("data", "verify") == (0, "no data sets found: nothing to check\n", "")
    assert run("data", "verify", "digits").code == 0
    assert run("data", "verify", "pets").code == 1
    run("data", "fetch", "pets")
    folder = tmp_path / "cache" / "pets"
    (folder / "dogs.gz").write_bytes(gzip.compress(b"wolves"))
    result = run("data", "verify", "pets")
    assert (result.code, result.err) == (1, "")
    assert rows(result.out)[1:] == [["cats", "right", str(folder)], ["dogs", "wrong", str(folder)]]
    (folder / "dogs.gz").unlink()
    (tmp_path / "cache" / "birds").mkdir()
    (tmp_path / "cache" / "birds" / "tits").touch()
    result = run("data", "verify", "birds")
    assert result.code == 1
    assert [line[:2] for line in rows(result.out)[1:]] == [
        ["cats", "right"],
        ["dogs", "missing"],
        ["tits", "unchecked"],
    ]
    assert run("data", "fetch", "birds").code == 0
    assert run("data", "verify", "birds").code == 0


def test_data_verify_checks_only_data_sets_that_are_present(
    server: Server, tmp_path: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    pets = registry.DATASETS["pets"]
    kept = FileSet(pets.needs[0][0].folders, (DataFile("cats"),))
    few = replace(pets, needs=((kept,),))
    monkeypatch.setitem(registry.DATASETS, "few-pets", few)
    (tmp_path / "cache" / "pets").mkdir(parents=True)
    (tmp_path / "cache" / "pets" / "cats").touch()
    result = run("data", "verify")
    assert (result.code, [line[:2] for line in rows(result.out)[1:]]) == (0, [["cats", "unchecked"]])
    assert run("data", "verify", "pets").code == 1


@pytest.mark.usefixtures("server")
def test_data_commands_name_mistake_in_one_line(
    tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    assert "there is no data set 'pest'; choose one of digits, pets, birds" in run_expecting_error(
        "data", "fetch", "pets", "pest"
    )
    assert not (tmp_path / "cache").exists()  # nothing was downloaded
    assert "there is no data set 'pest'" in run_expecting_error("data", "verify", "pest")
    for command in ("list", "verify"):
        assert "nowhere does not exist" in run_expecting_error(
            "data", command, "--data-dir", tmp_path / "nowhere"
        )
    (tmp_path / "file").touch()
    assert "file cannot be created as a folder" in run_expecting_error(
        "data", "fetch", "pets", "--data-dir", tmp_path / "file"
    )


def test_data_fetch_failure_has_exit_code_1_and_leaves_nothing(
    server: Server, tmp_path: Path, run: RunCommand
) -> None:
    server.files["cats.gz"] = b"wolves"
    code, out, err = run("data", "fetch", "pets", "--data-dir", tmp_path / "new" / "mine")
    assert (code, out) == (1, "")
    assert (
        f"cats.gz could not be downloaded ({server.url.removeprefix('http://')}: the file has the wrong checksum)"
        in err
    )
    assert f"put the file into {tmp_path / 'new' / 'mine' / 'pets'} yourself" in err
    assert not (tmp_path / "new").exists()
    del server.files["cats.gz"]
    assert run("data", "fetch", "pets").code == 1
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("server")
def test_data_fetch_names_folder_in_place_of_a_file(
    tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    wrong = tmp_path / "cache" / "pets" / "dogs.gz"
    wrong.mkdir(parents=True)
    assert f"{wrong} is a folder; expected a file: delete it" in run_expecting_error("data", "fetch", "pets")


@pytest.mark.usefixtures("server")
def test_data_fetch_asks_for_file_without_source(
    tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    folder = tmp_path / "cache" / "birds"
    assert f"not found: tits; put them into {folder}, or name their folder" in run_expecting_error(
        "data", "fetch", "birds"
    )


def test_data_without_command_shows_help(run: RunCommand) -> None:
    assert run("data") == run("data", "--help")
    assert all(f"  {name} " in run("data").out for name in ("list", "fetch", "verify"))
