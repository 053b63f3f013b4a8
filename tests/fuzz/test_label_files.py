"""Mutated label files are read, or refused by an error of one line; set SCARCE_FUZZ_CASES for more cases."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.dataset_files import idx_bytes
from helpers.mutations import try_mutations

from scarce.features import read_truth
from scarce.labels import ComplementaryLabels
from scarce.labels.io import read_labels, write_labels
from scarce.priors import load_priors

CLASSES = ["cat", "cow", "dog"]
ANSWERS = {
    "example_id": ["p1", "p1", "p2", "p3"],
    "class_name": ["cat", "cow", "dog", "cat"],
    "answer": ["no", "skip", "yes", "no"],
    "annotator": ["ann", "bob", "ann", ""],
}
LISTS = {"example_id": [1, 2, 3], "excluded": ["cat;dog", "", "cow"]}
MATRIX = {"example_id": ["p1", "p2"], "cat": ["no", ""], "cow": ["", "yes"], "dog": ["no", ""]}


def csv(columns):
    rows = [columns, *zip(*columns.values(), strict=True)]
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def npz(folder, *, packed):
    labels = ComplementaryLabels.from_answers(ANSWERS, CLASSES)
    write_labels(labels, folder / "valid.npz")
    if packed:
        return (folder / "valid.npz").read_bytes()
    file = io.BytesIO()
    np.savez(file, **np.load(folder / "valid.npz"))
    return file.getvalue()


TASKS = [
    {
        "id": number,
        "data": {"image": f"{number}.png", "class_name": CLASSES[number]},
        "annotations": [
            {
                "completed_by": {"id": 1, "email": "ann@example.org"},
                "was_cancelled": False,
                "result": [{"from_name": "not", "type": "choices", "value": {"choices": [choice]}}],
            }
        ],
    }
    for number, choice in enumerate(("no", "yes", "skip"))
]
EXCLUDED = json.loads(
    json.dumps(TASKS).replace('"no"', '"cat"').replace('"yes"', '"cow"').replace("skip", "dog")
)
PRODIGY = [
    {"id": "p1", "label": "CAT", "answer": "reject", "_annotator_id": "ann"},
    {"meta": {"id": 3}, "label": "DOG", "answer": "accept"},
    {"_input_hash": 77, "label": "COW", "answer": "ignore"},
]
PRIORS = {
    "format": "scarce-priors-1",
    "source": "given",
    "values": [0.25, 0.5, 0.25],
    "raw": [0.25, 0.5, 0.25],
    "classes": CLASSES,
}


def jsonl(records):
    return "\n".join(map(json.dumps, records)).encode()


def labels_as(form=None, classes=None):
    def read(path):
        labels = read_labels(path, form=form, classes=classes)
        assert labels.indicator().shape == labels.shape
        labels.summary()

    return read


READERS = {
    "answers.csv": (csv(ANSWERS), labels_as()),
    "lists.csv": (csv(LISTS), labels_as(classes=CLASSES)),
    "matrix.csv": (csv(MATRIX), labels_as()),
    "columns.csv": (csv({"first": ["cat", "cow"], "second": ["dog", "cat"]}), labels_as("columns", CLASSES)),
    "answers.parquet": (parquet(ANSWERS), labels_as()),
    "matrix.parquet": (parquet(MATRIX), labels_as()),
    "lists.parquet": (parquet(LISTS), labels_as(classes=CLASSES)),
    "indicator.npy": (npy([[1, 0, 0], [0, 1, 1]]), labels_as("indicator")),
    "answers.npy": (npy([[1, np.nan, 0], [0, -1, 0]]), labels_as("answer-matrix")),
    "single.npy": (npy([2, 0, 1]), labels_as("single", 3)),
    "names.npy": (npy(["cat", "dog"]), labels_as("single", CLASSES)),
    "answer.json": (json.dumps(TASKS).encode(), labels_as("label-studio-answer")),
    "excluded.json": (json.dumps(EXCLUDED).encode(), labels_as("label-studio-excluded", CLASSES)),
    "prodigy.jsonl": (jsonl(PRODIGY), labels_as("prodigy")),
    "truth.csv": (csv({"id": [1, 2], "label": ["cat", "dog"]}), read_truth),
    "truth.npy": (npy([1.0, 2.0, 0.0]), read_truth),
    "truth.idx": (idx_bytes([1, 2, 0]), read_truth),
    "truth.idx.gz": (gzip.compress(idx_bytes([1, 2, 0]), mtime=0), read_truth),
    "truth.parquet": (parquet({"label": [1, 2, 0]}), read_truth),
    "priors.json": (json.dumps(PRIORS).encode(), load_priors),
}


@pytest.mark.parametrize("name", READERS)
def test_mutated_label_file_is_read_or_refused_in_one_line(tmp_path, record_property, name):
    valid, read = READERS[name]
    (tmp_path / name).write_bytes(valid)
    read(tmp_path / name)
    counts = try_mutations(valid, tmp_path / name, read, name)
    record_property("counts", dict(counts))
    assert counts["refused"] > 0


@pytest.mark.parametrize("packed", [True, False])
def test_mutated_npz_labels_are_read_or_refused_in_one_line(tmp_path, record_property, packed):
    valid = npz(tmp_path, packed=packed)
    counts = try_mutations(valid, tmp_path / "labels.npz", labels_as(), f"labels.npz {packed}")
    record_property("counts", dict(counts))
    assert counts["refused"] > 0
