"""Data sets by name: where their files are looked for, what is refused, and what identifies them."""

import dataclasses
import hashlib
import re
from functools import partial

import numpy as np
import pytest
from helpers.dataset_files import write_idx_set
from sklearn.datasets import load_digits

from scarce._io.compressed import read_content
from scarce.datasets import DatasetFacts, ImageData, available_datasets, find_dataset, load_dataset, locate
from scarce.datasets._files import DataFile, FileSet
from scarce.datasets.mnist import idx_names, read_mnist_like
from scarce.datasets.registry import DATASETS
from scarce.errors import FileError, LabelError

CLASSES = ("cat", "cow", "dog")


def small(files, n_train=6):
    read = partial(read_mnist_like, classes=CLASSES, n_train=n_train)
    return DatasetFacts("pets", n_train, 4, 3, (3, 3), (files,), read)


def idx_set(folder=None, train="train", folders=("pets", "PETS/raw")):
    """The files of a set, with the checksums of those in a folder."""
    names = idx_names(train)
    digests = [None] * 4
    if folder is not None:
        digests = [hashlib.sha256(read_content(folder / f"{name}.gz")).hexdigest() for name in names]
    return FileSet(
        folders, tuple(DataFile(name, d and f"sha256:{d}") for name, d in zip(names, digests, strict=True))
    )


@pytest.fixture
def pets(tmp_path, monkeypatch):
    """A data set without checksums."""
    monkeypatch.setitem(DATASETS, "pets", small((idx_set(),)))


def first_pixel(data_dir=None):
    return load_dataset("pets", data_dir, download=False).X_train[0, 0, 0]


@pytest.mark.usefixtures("pets")
def test_places_in_their_order(tmp_path, cache, monkeypatch):
    pixels = []
    for seed, folder in enumerate(("mine", "ours", "system", "cache")):
        write_idx_set(tmp_path / folder / "pets", seed)
        pixels.append(np.random.default_rng(seed).integers(0, 256, (6, 3, 3))[0, 0, 0])
    assert len(set(pixels)) == 4
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path / "ours"))
    assert first_pixel(tmp_path / "mine") == pixels[0]
    assert first_pixel() == pixels[1]
    monkeypatch.delenv("SCARCE_DATA")
    assert first_pixel() == pixels[2]
    monkeypatch.setattr(locate, "_SYSTEM", tmp_path / "nowhere")
    assert first_pixel() == pixels[3]
    assert cache == tmp_path / "cache"


@pytest.mark.usefixtures("pets")
@pytest.mark.parametrize("inner", ["", "pets", "PETS/raw"])
@pytest.mark.parametrize("packed", [True, False])
def test_folders_within_a_place_gzipped_or_not(tmp_path, inner, packed):
    folder = write_idx_set(tmp_path / "data" / inner, packed=packed)
    (found,) = find_dataset("pets", tmp_path / "data")
    assert (found.folder, found.missing) == (folder, [])
    data = load_dataset("pets", tmp_path / "data")
    assert data.X_train.shape == (6, 3, 3)
    assert (data.X_train.dtype, data.y_train.dtype) == (np.uint8, np.int64)
    assert data.X_train.flags.writeable
    assert data.classes == CLASSES
    assert data.labels is None


@pytest.mark.usefixtures("pets")
def test_folders_that_do_not_exist_are_refused(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="nowhere does not exist"):
        load_dataset("pets", tmp_path / "nowhere")
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileError, match=r"^\$SCARCE_DATA is .*gone, which is no folder"):
        load_dataset("pets")


@pytest.mark.usefixtures("pets")
def test_one_file_of_four_is_missing(tmp_path):
    folder = write_idx_set(tmp_path / "data" / "pets")
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileError, match=f"not found: t10k-labels-idx1-ubyte; put them into {folder}"):
        load_dataset("pets", tmp_path / "data", download=False)


def test_sets_of_the_same_names_are_not_mixed_up(tmp_path, monkeypatch):
    cats, dogs = write_idx_set(tmp_path / "a", 0), write_idx_set(tmp_path / "b", 1)
    monkeypatch.setitem(DATASETS, "cats", small((idx_set(cats, folders=("cats",)),)))
    monkeypatch.setitem(DATASETS, "dogs", small((idx_set(dogs, folders=("dogs",)),)))
    assert find_dataset("cats", cats)[0].missing == []
    assert find_dataset("dogs", cats)[0].paths == {}
    # In a folder that bears its name a set is taken for itself, and the checksum tells that it is not.
    write_idx_set(tmp_path / "dogs", 0)
    assert find_dataset("dogs", tmp_path)[0].missing == []
    with pytest.raises(FileError, match="its checksum is wrong; remove it, then get it again"):
        load_dataset("dogs", tmp_path)


def test_a_single_wrong_byte_is_noticed_in_any_file(tmp_path, monkeypatch):
    folder = write_idx_set(tmp_path / "pets", packed=True)
    monkeypatch.setitem(DATASETS, "pets", small((idx_set(folder),)))
    assert load_dataset("pets", tmp_path).X_train.shape == (6, 3, 3)
    for name in idx_names():
        content = read_content(folder / f"{name}.gz")
        (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        (found,) = find_dataset("pets", tmp_path)
        assert found.wrong == [name]
        with pytest.raises(FileError, match=f"{name} is damaged"):
            load_dataset("pets", tmp_path)
        (folder / name).unlink()


def test_the_first_images_from_either_file_are_the_same(tmp_path, monkeypatch):
    alternatives = (idx_set(train="train-first2", folders=("first",)), idx_set(folders=("all",)))
    monkeypatch.setitem(DATASETS, "pets", small(alternatives, n_train=2))
    write_idx_set(tmp_path / "a" / "all")
    write_idx_set(tmp_path / "b" / "first", train="train-first2", rows=slice(2))
    of_all, of_first = load_dataset("pets", tmp_path / "a"), load_dataset("pets", tmp_path / "b")
    assert len(of_all.X_train) == 2
    assert of_all.checksum == of_first.checksum


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"n_train": 7}, r"shape \(6, 3, 3\); expected \(7, 3, 3\)"),
        ({"n_test": 5}, r"shape \(4, 3, 3\); expected \(5, 3, 3\)"),
        ({"shape": (9,)}, r"shape \(6, 3, 3\); expected \(6, 9\)"),
        ({"n_classes": 2}, "classes from [01] to 2; expected 0 to 1"),
    ],
)
def test_files_of_another_data_set(tmp_path, monkeypatch, changes, part):
    write_idx_set(tmp_path / "pets")
    monkeypatch.setitem(DATASETS, "pets", dataclasses.replace(small((idx_set(),)), **changes))
    with pytest.raises(
        FileError, match=f"the files of pets hold .*{part}: they are those of another data set"
    ):
        load_dataset("pets", tmp_path)


def test_annotations_are_not_for_every_data_set():
    with pytest.raises(LabelError, match="leave it out for digits"):
        load_dataset("digits", annotation=0)


def test_digits_are_those_of_scikit_learn():
    data, original = load_dataset("digits"), load_digits()
    for X, y, rows in (
        (data.X_test, data.y_test, range(0, 1797, 3)),
        (data.X_train, data.y_train, [row for row in range(1797) if row % 3]),
    ):
        assert y.tolist() == original.target[rows].tolist()
        assert np.rint(X / 255 * 16).astype(int).tolist() == original.images[rows].astype(int).tolist()
        assert np.bincount(y).min() > len(y) / 12


def test_the_checksum_tells_what_is_trained_on():
    X, y = np.arange(32, dtype=np.uint8).reshape(2, 4, 4), np.array([0, 1])
    data = ImageData("a", X, y, X, y, ("small", "large"))
    assert dataclasses.replace(data, name="b", X_train=X.copy()).checksum == data.checksum
    moved = np.ascontiguousarray(X.transpose(1, 2, 0)).transpose(2, 0, 1)  # equal, in another order of memory
    assert dataclasses.replace(data, X_train=moved).checksum == data.checksum
    others = [
        {"X_train": X + 1},
        {"X_train": X.reshape(4, 2, 4)},
        {"X_train": X.astype(np.int8)},
        {"y_test": y[::-1]},
        {"classes": ("small", "huge")},
    ]
    assert len({dataclasses.replace(data, **other).checksum for other in others} | {data.checksum}) == 6


def test_every_entry_of_the_registry_is_well_formed():
    seen = set()
    for facts in available_datasets().values():
        for files in (files for alternatives in facts.needs for files in alternatives):
            names = {file.name for file in files.files}
            for download in files.downloads:
                is_archive = download.name.endswith(".tar.gz")
                assert is_archive or download.name.removesuffix(".gz") in names
                assert all(url.startswith("http") for url in download.urls)
            for item in (*files.files, *files.downloads):
                if item.checksum is not None:
                    assert re.fullmatch("md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", item.checksum)
                    seen.add((item.name, item.checksum))
    # A digest pasted twice would stand beside two names.
    assert len({checksum for _, checksum in seen}) == len(seen)
