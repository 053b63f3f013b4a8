"""Checks of paths before writing, and atomic writes of folders."""

import stat

import pytest

from scarce._io.atomic import atomic_write_dir
from scarce._io.paths import check_dir, check_writable, check_writable_dir, is_dir, make_dir, prefix_errors
from scarce._io.temporary import find_dir
from scarce.errors import FetchError, FileError, LabelError


def test_check_writable_rejects_inputs_folders_and_existing_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a")
    for options, message in (
        (
            {"force": True, "inputs": [tmp_path / "b.csv", path]},
            "is one of the inputs and will not be replaced",
        ),
        ({"force": False}, r"exists; choose another name, or pass force=True \(--force\)"),
    ):
        with pytest.raises(FileError, match=message):
            check_writable(path, **options)
    with pytest.raises(FileError, match="is a folder; choose the name of a file"):
        check_writable(tmp_path, force=True)
    with pytest.raises(FileError, match="cannot be written"):
        check_writable(path / "below.csv", force=True)
    check_writable(path, force=True, inputs=[tmp_path / "b.csv"])
    check_writable(tmp_path / "new" / "b.csv", force=False)
    assert list((tmp_path / "new").iterdir()) == []


def test_check_writable_dir_replaces_only_empty_or_marked_folders(tmp_path):
    for name in ("empty", "marked", "foreign"):
        (tmp_path / name).mkdir()
    (tmp_path / "marked" / "mark.json").write_text("{}")
    (tmp_path / "foreign" / "thesis.txt").write_text("precious")
    for name in ("new", "empty", "marked"):
        check_writable_dir(tmp_path / name, "mark.json", force=True)
    with pytest.raises(FileError, match="is not a saved classifier and will not be replaced"):
        check_writable_dir(tmp_path / "foreign", "mark.json", force=True)
    with pytest.raises(FileError, match="exists; choose another name"):
        check_writable_dir(tmp_path / "empty", "mark.json", force=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "foreign", "marked"]


@pytest.mark.parametrize("target", ["nowhere", "marked"])
def test_check_writable_dir_rejects_links(tmp_path, target):
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / "mark.json").write_text("{}")
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(FileError, match=f"link is a link to {target}; expected a folder: pass its own path"):
        check_writable_dir(tmp_path / "link", "mark.json", force=True)
    assert (tmp_path / "link").is_symlink()


def test_is_dir_distinguishes_folders_from_files(tmp_path):
    (tmp_path / "file").write_text("")
    assert is_dir(tmp_path)
    assert not is_dir(tmp_path / "file")
    assert make_dir(tmp_path / "a" / "b").is_dir()
    for check in (check_dir, make_dir):
        with pytest.raises(FileError, match="file is a file; expected a folder"):
            check(tmp_path / "file")


def test_prefix_errors_names_file_once():
    for error, message in (
        (LabelError("row 3."), "pets.csv: row 3."),
        (FileError("pets.csv is empty."), "pets.csv is empty."),
        (FetchError("pets.csv cannot be fetched."), "pets.csv cannot be fetched."),
    ):
        with pytest.raises(type(error)) as caught, prefix_errors("pets.csv"):
            raise error
        assert str(caught.value) == message


def test_atomic_write_dir_replaces_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    with atomic_write_dir(folder) as temporary:
        (temporary / "new.txt").write_text("new")
        assert (folder / "old.txt").exists()
    assert [path.name for path in folder.iterdir()] == ["new.txt"]
    assert stat.S_IMODE(folder.stat().st_mode) & 0o500 == 0o500
    assert list(tmp_path.iterdir()) == [folder]


def test_failed_atomic_write_dir_keeps_previous_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.txt").write_text("old")

    def interrupted():
        with atomic_write_dir(folder) as temporary:
            (temporary / "new.txt").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in folder.iterdir()] == ["old.txt"]
    assert list(tmp_path.iterdir()) == [folder]


def test_folder_set_aside_by_killed_process_is_found_and_restored(tmp_path):
    folder, aside = tmp_path / "model", tmp_path / ".model.scarce-x1y2z3_0.earlier"
    aside.mkdir()
    (aside / "mark.json").write_text("{}")
    assert find_dir(folder) == aside
    with pytest.raises(FileError, match="model exists; choose another name"):
        check_writable_dir(folder, "mark.json", force=False)
    assert (folder / "mark.json").read_text() == "{}"
    assert list(tmp_path.iterdir()) == [folder]


def test_atomic_write_dir_replaces_link_and_keeps_its_target(tmp_path):
    target, link = tmp_path / "target", tmp_path / "model"
    target.mkdir()
    (target / "old.txt").write_text("old")
    link.symlink_to(target)
    with atomic_write_dir(link) as temporary:
        (temporary / "new.txt").write_text("new")
    assert not link.is_symlink()
    assert [path.name for path in link.iterdir()] == ["new.txt"]
    assert [path.name for path in target.iterdir()] == ["old.txt"]
    assert {path.name for path in tmp_path.iterdir()} == {"model", "target"}
