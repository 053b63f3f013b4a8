"""Data sets by name: images, small tables and texts."""

from scarce.datasets._files import LocatedFiles
from scarce.datasets.image_dataset import ImageDataset
from scarce.datasets.load import fetch_dataset, find_dataset, load_dataset
from scarce.datasets.load_tables import TableFacts, available_tables, load_table
from scarce.datasets.mnist import load_mnist_like
from scarce.datasets.registry import DatasetFacts, available_datasets
from scarce.datasets.table_dataset import TableDataset

__all__ = [
    "DatasetFacts",
    "ImageDataset",
    "LocatedFiles",
    "TableDataset",
    "TableFacts",
    "available_datasets",
    "available_tables",
    "fetch_dataset",
    "find_dataset",
    "load_dataset",
    "load_mnist_like",
    "load_table",
]
