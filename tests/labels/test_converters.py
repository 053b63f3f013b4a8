"""Every converter against values written by hand, and against a slow loop."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from scarce.labels import ComplementaryLabels

CLASSES = ["cat", "cow", "dog"]
EXCLUDED = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


@st.composite
def indicators(draw):
    """An n × q matrix of exclusions in which no row excludes every class."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 6)))
    matrix = draw(arrays(bool, shape))
    matrix[np.arange(shape[0]), draw(arrays(int, shape[0], elements=st.integers(0, shape[1] - 1)))] = False
    return matrix


def loop_lists(matrix, names):
    return [[names[k] for k in range(matrix.shape[1]) if matrix[i, k]] for i in range(matrix.shape[0])]


@pytest.mark.parametrize(
    "labels",
    [
        ComplementaryLabels.from_indicator(EXCLUDED, CLASSES),
        ComplementaryLabels.from_indicator(np.array(EXCLUDED, float), CLASSES),
        ComplementaryLabels.from_indicator(sparse.csr_array(np.array(EXCLUDED)), CLASSES),
        ComplementaryLabels.from_indicator(sparse.coo_matrix(np.array(EXCLUDED, bool)), CLASSES),
        ComplementaryLabels.from_indicator(pd.DataFrame(EXCLUDED), CLASSES),
        ComplementaryLabels.from_candidates([[0, 1, 0], [1, 1, 1], [1, 0, 1]], CLASSES),
        ComplementaryLabels.from_candidates(sparse.csr_matrix([[0, 1, 0], [1, 1, 1], [1, 0, 1]]), CLASSES),
        ComplementaryLabels.from_lists([["dog", "cat"], [], {"cow"}], CLASSES),
        ComplementaryLabels.from_lists(iter([("dog", "cat", "dog"), (), np.array(["cow"])]), CLASSES),
        ComplementaryLabels.from_lists(pd.Series([["dog", "cat"], [], ["cow"]]), CLASSES),
        ComplementaryLabels.from_columns([["dog", "cat"], [None, ""], ["cow", float("nan")]], CLASSES),
        ComplementaryLabels.from_columns(
            pd.DataFrame({"a": ["dog", None, "cow"], "b": ["cat", pd.NA, ""]}), CLASSES
        ),
        ComplementaryLabels.from_columns([["dog", "cat"], ["-", "-"], ["-", "cow"]], CLASSES, missing="-"),
    ],
)
def test_converters_of_class_names_give_equal_labels(labels):
    assert labels == ComplementaryLabels(np.array([0, 2, 2, 3]), np.array([0, 2, 1]), np.array(CLASSES))
    assert labels.indicator(dtype=int).tolist() == EXCLUDED
    assert labels.per_example.tolist() == [2, 0, 1]
    assert labels.counts.tolist() == [1, 1, 1]
    assert labels.rates.tolist() == [1 / 3] * 3
    assert (labels.n_examples, labels.n_classes, labels.shape, len(labels)) == (3, 3, (3, 3), 3)
    assert labels.confirmed.tolist() == [-1, -1, -1]
    assert labels.answers is None


@pytest.mark.parametrize(
    "labels",
    [
        ComplementaryLabels.from_single([2, 0, 2, 1], 3),
        ComplementaryLabels.from_single(np.array([2.0, 0.0, 2.0, 1.0]), 3),
        ComplementaryLabels.from_single(np.array([2, 0, 2, 1], np.uint8), range(3)),
        ComplementaryLabels.from_single(["2", "0", "2", "1"], 3),
        ComplementaryLabels.from_columns([[2, 2], [0, -1], [-1, 2], [1, 1]], 3),
        ComplementaryLabels.from_columns(np.array([[2, np.nan], [0, 0], [2, np.nan], [np.nan, 1]]), 3),
        ComplementaryLabels.from_columns([[2, 9], [0, 9], [2, 2], [1, 9]], 3, missing=9),
        ComplementaryLabels.from_lists([[2], [0], [np.int64(2)], [1]], 3),
    ],
)
def test_converters_of_class_numbers_give_equal_labels(labels):
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert labels.classes.tolist() == [0, 1, 2]


def test_from_columns_keeps_class_255_of_unsigned_bytes():
    table = np.array([[255, 3]], np.uint8)
    assert ComplementaryLabels.from_columns(table, 256).indices.tolist() == [3, 255]


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1, np.nan], [np.nan, np.nan, 0], [-1, np.nan, np.nan]],
        [["no", "yes", ""], ["", None, "No "], ["skip", float("nan"), ""]],
        pd.DataFrame([["n", "Y", None], [pd.NA, None, "false"], ["ignore", None, None]]),
    ],
)
def test_from_answer_matrix_keeps_exclusions_confirmations_and_skips(matrix):
    labels = ComplementaryLabels.from_answer_matrix(matrix, CLASSES)
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert labels.confirmed.tolist() == [1, -1, -1]
    assert labels.answers.example.tolist() == [0, 0, 1, 2]
    assert labels.answers.class_index.tolist() == [0, 1, 2, 0]
    assert labels.answers.answer.tolist() == [0, 1, 0, -1]
    yes, no = labels.answers.counts(3)
    assert (yes.tolist(), no.tolist()) == ([0, 1, 0], [1, 0, 1])


def test_from_answers_reads_long_table():
    table = pd.DataFrame(
        {
            "example_id": ["p2", "p1", "p2", "p3", "p1"],
            "class_name": ["dog", "cat", "cat", "cow", "cow"],
            "answer": ["no", "yes", "skip", None, "no"],
            "annotator": ["ann", None, "bob", "ann", "ann"],
            "ms_taken": [1, 2, 3, 4, 5],
        }
    )
    labels = ComplementaryLabels.from_answers(table)
    assert labels.classes.tolist() == ["cat", "cow", "dog"]  # sorted
    assert labels.ids.tolist() == ["p2", "p1", "p3"]  # in the order they first occur
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert labels.confirmed.tolist() == [-1, 0, -1]
    assert labels.answers.example.tolist() == [0, 0, 1, 1]
    assert labels.answers.answer.tolist() == [0, -1, 1, 0]
    assert labels.answers.annotator.tolist() == ["ann", "bob", "", "ann"]


def test_from_answers_follows_given_classes_and_ids():
    table = {"example_id": [7, 9], "class_name": [1, 0], "answer": [0, 0]}
    labels = ComplementaryLabels.from_answers(table, classes=[2, 1, 0], ids=[9, 8, 7])
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_from_answers_keeps_ids_without_answers():
    table = {"example_id": [], "class_name": [], "answer": []}
    labels = ComplementaryLabels.from_answers(table, classes=CLASSES, ids=["a", "b"])
    assert (labels.n_examples, labels.counts.sum()) == (2, 0)


@given(indicators())
def test_from_indicator_agrees_with_slow_loop(matrix):
    labels = ComplementaryLabels.from_indicator(matrix)
    n, q = matrix.shape
    assert labels.counts.tolist() == [sum(bool(matrix[i, k]) for i in range(n)) for k in range(q)]
    assert labels.per_example.tolist() == [sum(map(bool, row)) for row in matrix]
    for i in range(n):
        kept = labels.indices[labels.indptr[i] : labels.indptr[i + 1]]
        assert kept.tolist() == [k for k in range(q) if matrix[i, k]]


@given(indicators())
def test_converters_round_trip_between_forms(matrix):
    names = [f"c{k}" for k in range(matrix.shape[1])]
    labels = ComplementaryLabels.from_indicator(matrix, names)
    assert (labels.indicator() == matrix).all()
    assert ComplementaryLabels.from_lists(loop_lists(matrix, names), names) == labels
    assert ComplementaryLabels.from_candidates(~matrix, names) == labels
    assert ComplementaryLabels.from_indicator(labels.to_csr(), names) == labels
    assert ComplementaryLabels.from_indicator(np.asarray(labels), names) == labels
    width = max(1, matrix.sum(axis=1).max())
    columns = [(row + [""] * width)[:width] for row in loop_lists(matrix, names)]
    assert ComplementaryLabels.from_columns(columns, names) == labels
    answers = np.where(matrix, 0.0, np.nan)
    assert (ComplementaryLabels.from_answer_matrix(answers, names).indicator() == matrix).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_from_single_agrees_with_slow_loop(excluded):
    expected = np.zeros((len(excluded), 5), bool)
    for row, name in enumerate(excluded):
        expected[row, name] = True
    assert (ComplementaryLabels.from_single(excluded, 5).indicator() == expected).all()


def test_ids_beyond_64_bits_stay_distinct():
    ids = [2**63 + 1, 2**63 + 2, 5]
    assert ComplementaryLabels.from_single([0, 1, 0], 2 + 1, ids=ids).ids.tolist() == [
        str(name) for name in ids
    ]
