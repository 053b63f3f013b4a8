"""Where the files of a data set are searched for, and how damaged or missing ones are reported."""

import numpy as np
import pytest
from helpers.dataset_files import PETS, idx_file_set, pet_dataset, write_idx_set

from scarce._io.compressed import read_content
from scarce.datasets import _files, find_dataset, load_dataset
from scarce.datasets.mnist import idx_names
from scarce.datasets.registry import DATASETS
from scarce.errors import FileError


@pytest.fixture
def pets(tmp_path, monkeypatch):
    """A data set without checksums."""
    monkeypatch.setitem(DATASETS, "pets", pet_dataset((idx_file_set(),)))


def first_pixel(data_dir=None):
    return load_dataset("pets", data_dir, download=False).X_train[0, 0, 0]


@pytest.mark.usefixtures("pets")
def test_load_dataset_searches_folders_in_order(tmp_path, cache, monkeypatch):
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
    monkeypatch.setattr(_files, "_SYSTEM", tmp_path / "nowhere")
    assert first_pixel() == pixels[3]
    assert cache == tmp_path / "cache"


@pytest.mark.usefixtures("pets")
@pytest.mark.parametrize("inner", ["", "pets", "PETS/raw"])
@pytest.mark.parametrize("packed", [True, False])
def test_find_dataset_finds_subfolders_gzipped_or_not(tmp_path, inner, packed):
    folder = write_idx_set(tmp_path / "data" / inner, packed=packed)
    (found,) = find_dataset("pets", tmp_path / "data")
    assert (found.folder, found.missing) == (folder, [])
    data = load_dataset("pets", tmp_path / "data")
    assert data.X_train.shape == (6, 3, 3)
    assert (data.X_train.dtype, data.y_train.dtype) == (np.uint8, np.int64)
    assert data.X_train.flags.writeable
    assert data.classes == PETS
    assert data.labels is None


@pytest.mark.usefixtures("pets")
def test_load_dataset_rejects_missing_folder(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="nowhere does not exist"):
        load_dataset("pets", tmp_path / "nowhere")
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileError, match=r"^\$SCARCE_DATA is .*gone, which is not a folder"):
        load_dataset("pets")


@pytest.mark.usefixtures("pets")
def test_load_dataset_names_missing_file(tmp_path):
    folder = write_idx_set(tmp_path / "data" / "pets")
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileError, match=f"not found: t10k-labels-idx1-ubyte; put them into {folder}"):
        load_dataset("pets", tmp_path / "data", download=False)


def test_find_dataset_distinguishes_sets_with_same_file_names(tmp_path, monkeypatch):
    cats, dogs = write_idx_set(tmp_path / "a", 0), write_idx_set(tmp_path / "b", 1)
    monkeypatch.setitem(DATASETS, "cats", pet_dataset((idx_file_set(cats, folders=("cats",)),)))
    monkeypatch.setitem(DATASETS, "dogs", pet_dataset((idx_file_set(dogs, folders=("dogs",)),)))
    assert find_dataset("cats", cats)[0].missing == []
    assert find_dataset("dogs", cats)[0].paths == {}
    # Files in a folder named after the data set count as found until their checksum is read.
    write_idx_set(tmp_path / "dogs", 0)
    assert find_dataset("dogs", tmp_path)[0].missing == []
    with pytest.raises(FileError, match=r"has the wrong checksum: .*; delete it, then download it again"):
        load_dataset("dogs", tmp_path)


def test_find_dataset_reports_wrong_checksum_of_any_file(tmp_path, monkeypatch):
    folder = write_idx_set(tmp_path / "pets", packed=True)
    monkeypatch.setitem(DATASETS, "pets", pet_dataset((idx_file_set(folder),)))
    assert load_dataset("pets", tmp_path).X_train.shape == (6, 3, 3)
    for name in idx_names():
        content = read_content(folder / f"{name}.gz")
        (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        (found,) = find_dataset("pets", tmp_path)
        assert found.wrong == [name]
        with pytest.raises(FileError, match=f"{name} has the wrong checksum"):
            load_dataset("pets", tmp_path)
        (folder / name).unlink()
