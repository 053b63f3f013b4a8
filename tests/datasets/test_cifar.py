"""CIFAR-10 and CIFAR-20 in the binary and the Python layout, and files that are damaged or hostile."""

import os
import pickle
import struct

import numpy as np
import pytest
from helpers.dataset_files import CIFAR10_BINARY, color_images, write_cifar10_binary

from scarce.datasets import DatasetFacts, load_dataset
from scarce.datasets._cifar import read_cifar10, read_cifar20
from scarce.datasets._files import DataFile, FileSet
from scarce.datasets.registry import DATASETS
from scarce.errors import FileError

IMAGES, LABELS = color_images(5), [3, 9, 0, 1, 3]
TEST_IMAGES, TEST_LABELS = color_images(2, seed=1), [7, 2]

PYTHON = FileSet(("py",), tuple(map(DataFile, ("data_batch_1", "data_batch_2", "test_batch"))))
COARSE_PYTHON = FileSet(("py20",), tuple(map(DataFile, ("train", "test"))))
COARSE_BINARY = FileSet(("bin20",), tuple(map(DataFile, ("train.bin", "test.bin"))))


@pytest.fixture(autouse=True)
def small_cifar(monkeypatch):
    def facts(n_classes, alternatives, read):
        return DatasetFacts("", 5, 2, n_classes, (3, 32, 32), (alternatives,), read)

    monkeypatch.setitem(DATASETS, "cifar10", facts(10, (CIFAR10_BINARY, PYTHON), read_cifar10))
    monkeypatch.setitem(DATASETS, "cifar20", facts(20, (COARSE_PYTHON, COARSE_BINARY), read_cifar20))


def write_pickle(path, content, protocol=2):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content, protocol))


def python_batch(images, labels):
    return {b"data": images.reshape(-1, 3072), b"labels": labels, b"filenames": [b"a.png"] * len(labels)}


def write_cifar10_python(folder, protocol=2):
    write_pickle(folder / "data_batch_1", python_batch(IMAGES[:2], LABELS[:2]), protocol)
    write_pickle(folder / "data_batch_2", python_batch(IMAGES[2:], LABELS[2:]), protocol)
    write_pickle(folder / "test_batch", python_batch(TEST_IMAGES, TEST_LABELS), protocol)


def written_by_python_2(images, labels):
    """A batch pickled as by Python 2, with byte strings and the NumPy module names of that time."""
    data = images.tobytes()
    return (
        b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x05smallq\x03U\x06labelsq\x04]q\x05("
        + b"".join(b"K" + bytes([k]) for k in labels)
        + b"eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85U\x01b\x87Rq\x09"
        + b"(K\x01K"
        + bytes([len(images)])
        + b"M\x00\x0c\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
        + b"K\x00tb\x89T"
        + struct.pack("<I", len(data))
        + data
        + b"tbu."
    )


def test_load_cifar10_reads_same_data_from_both_layouts(tmp_path):
    write_cifar10_binary(tmp_path / "a" / "bin", IMAGES, LABELS, TEST_IMAGES, TEST_LABELS)
    data = load_dataset("cifar10", tmp_path / "a")
    assert np.array_equal(data.X_train, IMAGES)
    assert np.array_equal(data.X_test, TEST_IMAGES)
    assert (data.y_train.tolist(), data.y_test.tolist()) == (LABELS, TEST_LABELS)
    assert data.classes[3] == "cat"
    for protocol in range(2, 6):
        write_cifar10_python(tmp_path / str(protocol) / "py", protocol)
        assert load_dataset("cifar10", tmp_path / str(protocol)).checksum == data.checksum
    old = tmp_path / "old" / "py"
    write_cifar10_python(old)
    (old / "data_batch_2").write_bytes(written_by_python_2(IMAGES[2:], LABELS[2:]))
    assert load_dataset("cifar10", tmp_path / "old").checksum == data.checksum


def test_load_cifar20_moves_streetcars_to_transportation_vehicles(tmp_path):
    coarse, fine = [19, 19, 18, 0, 4], [81, 89, 90, 4, 0]
    for name, images, rows in (("train", IMAGES, slice(None)), ("test", TEST_IMAGES, slice(2))):
        content = {
            b"data": images.reshape(-1, 3072),
            b"coarse_labels": coarse[rows],
            b"fine_labels": fine[rows],
        }
        write_pickle(tmp_path / "a" / "py20" / name, content)
        (tmp_path / "b" / "bin20").mkdir(parents=True, exist_ok=True)
        (tmp_path / "b" / "bin20" / f"{name}.bin").write_bytes(
            b"".join(
                bytes(row[:2]) + row[2].tobytes()
                for row in zip(coarse[rows], fine[rows], images, strict=True)
            )
        )
    data = load_dataset("cifar20", tmp_path / "a")
    assert data.y_train.tolist() == [18, 19, 18, 0, 4]
    assert data.y_test.tolist() == [18, 19]
    assert data.classes[18:] == ("transportation vehicles", "non-transportation vehicles")
    assert load_dataset("cifar20", tmp_path / "b").checksum == data.checksum


@pytest.mark.parametrize("length", [0, 1, 3072, 3074])
def test_load_cifar10_rejects_binary_file_of_wrong_length(tmp_path, length):
    folder = write_cifar10_binary(tmp_path / "bin", IMAGES, LABELS, TEST_IMAGES, TEST_LABELS)
    (folder / "test_batch.bin").write_bytes(bytes(length))
    with pytest.raises(FileError, match=f"test_batch.bin has {length} bytes, not a multiple of 3073"):
        load_dataset("cifar10", tmp_path)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([1, 2], "holds a list; expected a dict"),
        ({b"labels": [7, 2]}, "has no 'data', only labels"),
        ({b"data": TEST_IMAGES.reshape(2, 3072)}, "has no 'labels'"),
        (python_batch(TEST_IMAGES, [7]), "has 2 images, but a different number of labels"),
        (python_batch(TEST_IMAGES, [7, 2.5]), "'labels' does not hold whole numbers"),
        (python_batch(TEST_IMAGES, ["a", "b"]), "'labels' does not hold whole numbers"),
        (python_batch(TEST_IMAGES, [[7], [2, 3]]), "'labels' is not an array"),
        (python_batch(TEST_IMAGES.astype(np.int32), TEST_LABELS), "the images are int32"),
        ({b"data": TEST_IMAGES, b"labels": TEST_LABELS}, r"of shape \(2, 3, 32, 32\)"),
    ],
)
def test_load_cifar10_rejects_pickle_with_wrong_content(tmp_path, content, part):
    write_cifar10_python(tmp_path / "py")
    write_pickle(tmp_path / "py" / "test_batch", content)
    with pytest.raises(FileError, match=f"test_batch.*{part}"):
        load_dataset("cifar10", tmp_path)


class CallOnUnpickle:
    """Calls a function when it is loaded with `pickle`."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
def test_load_cifar10_rejects_hostile_pickle_without_running_it(tmp_path, protocol):
    mark = tmp_path / "mark"
    hostile = {b"data": CallOnUnpickle(os.mkdir, str(mark)), b"labels": [1]}
    write_cifar10_python(tmp_path / "py")
    write_pickle(tmp_path / "py" / "test_batch", hostile, protocol)
    with pytest.raises(
        FileError, match=r"test_batch asks to call (posix|nt)\.mkdir, .* the call was blocked"
    ):
        load_dataset("cifar10", tmp_path)
    assert not mark.exists()
