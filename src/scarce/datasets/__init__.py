"""Data sets by name, and features and true labels from files: arrays, tables, idx files, folders."""

from scarce.datasets.features import Features, read_features
from scarce.datasets.idx import read_idx
from scarce.datasets.image_data import ImageData
from scarce.datasets.load import fetch_dataset, find_dataset, load_dataset
from scarce.datasets.load_tables import TableFacts, available_tables, load_table
from scarce.datasets.mnist import load_mnist_like
from scarce.datasets.registry import DatasetFacts, available_datasets
from scarce.datasets.shards import Shards
from scarce.datasets.table_data import TableData
from scarce.datasets.truth import read_truth

__all__ = [
    "DatasetFacts",
    "Features",
    "ImageData",
    "Shards",
    "TableData",
    "TableFacts",
    "available_datasets",
    "available_tables",
    "fetch_dataset",
    "find_dataset",
    "load_dataset",
    "load_mnist_like",
    "load_table",
    "read_features",
    "read_idx",
    "read_truth",
]
