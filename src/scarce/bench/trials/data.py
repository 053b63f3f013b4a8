"""The data of trials: loaded once per process, their checksums, and how to get those that are missing."""

from functools import lru_cache
from pathlib import Path

from scarce.bench.spec.trial import Kind
from scarce.datasets import ImageDataset, TableDataset, find_dataset, load_dataset, load_table
from scarce.datasets.load_tables import find_table, table_facts

__all__ = ["cached_table", "data_checksum", "how_to_get", "load_data"]


@lru_cache(maxsize=2)
def load_data(name: str, data_dir: str | None, download: bool = True) -> ImageDataset:
    """Return a data set of images, kept in memory for the next trial."""
    return load_dataset(name, data_dir, download)


@lru_cache(maxsize=4)
def cached_table(name: str, data_dir: str | None) -> TableDataset:
    """Return a table, kept in memory for the next trial."""
    return load_table(name, data_dir)


def data_checksum(kind: Kind, name: str, data_dir: str | None, download: bool = True) -> str:
    """Return the checksum of a data set: of a table where classifiers are compared, else of images.

    Examples
    --------
    >>> data_checksum("classifiers", "digits", None) == data_checksum("accuracy", "digits", None)
    False
    """
    if kind == "classifiers":
        return cached_table(name, data_dir).checksum
    return load_data(name, data_dir, download).checksum


def how_to_get(kind: Kind, name: str, data_dir: Path | None) -> str | None:
    """Return what a user has to do to get missing data; None if they are available.

    Examples
    --------
    >>> how_to_get("accuracy", "digits", None) is None
    True
    """
    is_table = kind == "classifiers"
    located = [find_table(name, data_dir)] if is_table else find_dataset(name, data_dir)
    missing = [file for found in located if found is not None for file in found.missing]
    if not missing:
        return None
    if is_table:
        return f"put {table_facts(name).folder}/{missing[0]} into a folder named with --data-dir"
    return f"get it with: scarce data fetch {name}"
