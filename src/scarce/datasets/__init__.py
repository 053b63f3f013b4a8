"""Data sets by name, and features and true labels from files: arrays, tables, idx files, folders."""

from scarce.datasets.features import Features, read_features
from scarce.datasets.idx import read_idx
from scarce.datasets.image_data import ImageData
from scarce.datasets.load import fetch_dataset, find_dataset, load_dataset
from scarce.datasets.mnist import load_mnist_like
from scarce.datasets.registry import DatasetFacts, available_datasets
from scarce.datasets.shards import Shards
from scarce.datasets.truth import read_truth

__all__ = [
    "DatasetFacts",
    "Features",
    "ImageData",
    "Shards",
    "available_datasets",
    "fetch_dataset",
    "find_dataset",
    "load_dataset",
    "load_mnist_like",
    "read_features",
    "read_idx",
    "read_truth",
]
