"""Features and true labels from files: arrays, tables, idx files, folders of images."""

from scarce.datasets.features import Features, read_features
from scarce.datasets.idx import read_idx
from scarce.datasets.mnist import load_mnist_like
from scarce.datasets.truth import read_truth

__all__ = ["Features", "load_mnist_like", "read_features", "read_idx", "read_truth"]
