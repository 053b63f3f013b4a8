"""CIFAR-10 with labels drawn from the published transition matrix of human annotators."""

import numpy as np
from helpers.dataset_files import CIFAR10_BINARY, colour_images, write_cifar10_binary

from scarce.datasets import DatasetFacts, load_dataset
from scarce.datasets.clcifar import read_human_cifar10
from scarce.datasets.registry import DATASETS
from scarce.simulate import human_transition


def test_human_cifar10_labels_follow_transition_matrix(tmp_path, monkeypatch):
    n, cat = 2000, 3
    facts = DatasetFacts("", n, 2, 10, (3, 32, 32), ((CIFAR10_BINARY,),), read_human_cifar10)
    monkeypatch.setitem(DATASETS, "human-cifar10", facts)
    write_cifar10_binary(
        tmp_path / "bin", np.zeros((n, 3, 32, 32), np.uint8), [cat] * n, colour_images(2), [7, 2]
    )
    data = load_dataset("human-cifar10", tmp_path)
    assert data.annotations.shape == (n, 3)
    expected = human_transition("clcifar10")[cat]
    for said in data.annotations.T:
        shares = np.bincount(said, minlength=10) / n
        assert np.abs(shares - expected).max() < 4 * np.sqrt(0.25 / n)
    # Annotations of one image are independent: two agree as often as two independent draws.
    agree = (data.annotations[:, 0] == data.annotations[:, 1]).mean()
    assert abs(agree - (expected**2).sum()) < 4 * np.sqrt(0.25 / n)
    union = np.zeros((n, 10), bool)
    for row, said in enumerate(data.annotations):
        union[row, said] = True
    assert np.array_equal(data.labels.indicator(), union)
    assert load_dataset("human-cifar10", tmp_path).checksum == data.checksum
