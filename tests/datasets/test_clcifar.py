"""CLCIFAR: published pickles and their converted copy in the cache; CIFAR-10 with labels drawn from its transition matrix."""

import pickle

import numpy as np
import pytest
from helpers.dataset_files import CIFAR10_BINARY, color_images, write_cifar10_binary

from scarce.datasets import DatasetFacts, clcifar, load_dataset
from scarce.datasets._files import DataFile, FileSet
from scarce.datasets.cifar import CIFAR10_CLASSES, CIFAR20_CLASSES
from scarce.datasets.clcifar import read_clcifar10, read_human_cifar10
from scarce.datasets.registry import DATASETS
from scarce.errors import FileError, MethodError
from scarce.simulate import human_counts, human_transition

PUBLISHED = FileSet(("clcifar10",), (DataFile("clcifar10.pkl"),))

IMAGES = color_images(4)
TRUTH = [3, 9, 0, 1]
ANNOTATIONS = [[1, 1, 2], [0, 9, 5], [4, 4, 4], [7, 8, 9]]


@pytest.fixture(autouse=True)
def small_clcifar(monkeypatch, tmp_path):
    shape = (3, 32, 32)
    facts = DatasetFacts("", 4, 2, 10, shape, ((PUBLISHED,), (CIFAR10_BINARY,)), read_clcifar10)
    monkeypatch.setitem(DATASETS, "clcifar10", facts)
    write_cifar10_binary(tmp_path / "bin", IMAGES, TRUTH, color_images(2, seed=1), [7, 2])


def published_content(**changes):
    """The content of the published pickle; images have the channel last."""
    images = [np.ascontiguousarray(image.transpose(1, 2, 0)) for image in IMAGES]
    return {"names": ["a"] * 4, "images": images, "ord_labels": TRUTH, "cl_labels": ANNOTATIONS} | changes


def write(folder, content, protocol=4):
    (folder / "clcifar10.pkl").write_bytes(pickle.dumps(content, protocol))


@pytest.mark.parametrize("protocol", range(2, 6))
def test_load_clcifar10_keeps_all_three_annotations(tmp_path, protocol):
    write(tmp_path, published_content(), protocol)
    data = load_dataset("clcifar10", tmp_path)
    assert np.array_equal(data.X_train, IMAGES)
    assert (data.y_train.tolist(), data.y_test.tolist()) == (TRUTH, [7, 2])
    assert data.annotations.tolist() == ANNOTATIONS
    excluded = [np.flatnonzero(row).tolist() for row in data.labels.indicator()]
    assert excluded == [[1, 2], [0, 5, 9], [4], [7, 8, 9]]
    assert data.labels.classes.tolist() == list(range(10))


def test_load_clcifar10_selects_one_annotation(tmp_path):
    write(tmp_path, published_content())
    checksums = {load_dataset("clcifar10", tmp_path).checksum}
    for annotator in range(3):
        data = load_dataset("clcifar10", tmp_path, annotation=annotator)
        assert data.labels.indices.tolist() == [row[annotator] for row in ANNOTATIONS]
        checksums.add(data.checksum)
    assert len(checksums) == 4
    for invalid in (3, -1, "first", "0"):
        with pytest.raises(
            MethodError, match=f"annotation={invalid!r} is unknown; expected 0, 1, 2 or 'union'"
        ):
            load_dataset("clcifar10", tmp_path, annotation=invalid)


def test_load_clcifar10_reads_numpy_arrays_like_lists(tmp_path):
    write(tmp_path, published_content())
    checksum = load_dataset("clcifar10", tmp_path).checksum
    truth = [np.int64(k) for k in TRUTH]
    write(
        tmp_path,
        published_content(
            images=IMAGES.transpose(0, 2, 3, 1), ord_labels=truth, cl_labels=np.array(ANNOTATIONS)
        ),
    )
    assert load_dataset("clcifar10", tmp_path).checksum == checksum


def test_load_clcifar10_converts_pickle_only_once(tmp_path, cache, monkeypatch):
    write(tmp_path, published_content())
    checksum = load_dataset("clcifar10", tmp_path).checksum
    (copy,) = (cache / "converted").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(clcifar, "unpickle", None)
        assert load_dataset("clcifar10", tmp_path).checksum == checksum
    copy.write_bytes(copy.read_bytes()[:100])
    assert load_dataset("clcifar10", tmp_path).checksum == checksum
    with np.load(copy, allow_pickle=False) as arrays:
        assert arrays["annotations"].tolist() == ANNOTATIONS
    # The copy of the old pickle is not used for another one.
    write(tmp_path, published_content(ord_labels=[0, 0, 0, 0]))
    assert load_dataset("clcifar10", tmp_path).y_train.tolist() == [0, 0, 0, 0]


def test_load_clcifar10_works_without_writable_cache(tmp_path, cache):
    cache.write_text("a file")
    write(tmp_path, published_content())
    assert load_dataset("clcifar10", tmp_path).annotations.tolist() == ANNOTATIONS


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"cl_labels": [row[:2] for row in ANNOTATIONS]}, r"labels of shape \(4, 2\); expected"),
        ({"ord_labels": TRUTH[:3]}, r"true classes of shape \(3,\)"),
        ({"images": list(IMAGES)}, r"images of shape \(4, 3, 32, 32\)"),
        ({"images": [image.astype(int) for image in IMAGES]}, "int64"),
        ({"images": [IMAGES[0], IMAGES[1, 0]]}, "'images' is not an array"),
        ({"images": None}, "'images' does not hold whole numbers"),
        ({"cl_labels": [[1, 1, 10]] * 4}, "classes from 1 to 10; expected 0 to 9"),
        ({"cl_labels": [[1, 1, -1]] * 4}, "classes from -1 to 1; expected 0 to 9"),
        ({"images": print}, r"asks to call builtins\.print"),
    ],
)
def test_load_clcifar10_rejects_pickle_with_wrong_content(tmp_path, changes, part):
    write(tmp_path, published_content(**changes))
    with pytest.raises(FileError, match=part):
        load_dataset("clcifar10", tmp_path)


def test_load_clcifar10_rejects_missing_key_and_truncated_file(tmp_path):
    write(tmp_path, {"data": [], "com_labels": []})
    with pytest.raises(FileError, match="has no 'images', only data, com_labels"):
        load_dataset("clcifar10", tmp_path)
    write(tmp_path, published_content())
    content = (tmp_path / "clcifar10.pkl").read_bytes()
    (tmp_path / "clcifar10.pkl").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"clcifar10.pkl is damaged, truncated"):
        load_dataset("clcifar10", tmp_path)


def test_human_cifar10_labels_follow_transition_matrix(tmp_path, monkeypatch):
    n, cat = 2000, 3
    facts = DatasetFacts("", n, 2, 10, (3, 32, 32), ((CIFAR10_BINARY,),), read_human_cifar10)
    monkeypatch.setitem(DATASETS, "human-cifar10", facts)
    write_cifar10_binary(
        tmp_path / "bin", np.zeros((n, 3, 32, 32), np.uint8), [cat] * n, color_images(2), [7, 2]
    )
    data = load_dataset("human-cifar10", tmp_path)
    assert data.annotations.shape == (n, 3)
    expected = human_transition("clcifar10")[cat]
    for annotations in data.annotations.T:
        frequencies = np.bincount(annotations, minlength=10) / n
        assert np.abs(frequencies - expected).max() < 4 * np.sqrt(0.25 / n)
    # Annotations of one image are independent: two agree as often as two independent draws.
    agree = (data.annotations[:, 0] == data.annotations[:, 1]).mean()
    assert abs(agree - (expected**2).sum()) < 4 * np.sqrt(0.25 / n)
    union = np.zeros((n, 10), bool)
    for row, annotations in enumerate(data.annotations):
        union[row, annotations] = True
    assert np.array_equal(data.labels.indicator(), union)
    assert load_dataset("human-cifar10", tmp_path).checksum == data.checksum


def test_cifar_classes_are_those_of_human_counts():
    assert human_counts("clcifar10").classes.tolist() == list(CIFAR10_CLASSES)
    assert human_counts("clcifar20").classes.tolist() == list(CIFAR20_CLASSES)
