"""ComplementaryLabels as a container: indexing, equality, immutability, and use by scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import _safe_indexing, resample

from scarce.errors import LabelError
from scarce.labels import Answers, ComplementaryLabels

ANSWERS = {
    "example_id": ["p", "q", "q", "r", "r", "r", "s"],
    "class_name": ["a", "a", "b", "a", "b", "c", "c"],
    "answer": ["no", "no", "yes", "no", "skip", "no", "yes"],
    "annotator": list("1234567"),
}
N = 4


@pytest.fixture
def labels():
    return ComplementaryLabels.from_answers(ANSWERS)


def loop_subset(labels, rows):
    """Return the expected exclusions, confirmed classes and answers of labels[rows], built row by row."""
    table = labels.answers
    answers = [
        (new, int(table.class_index[at]), int(table.answer[at]), str(table.annotator[at]))
        for new, old in enumerate(rows)
        for at in range(len(table))
        if table.example[at] == old
    ]
    dense = labels.indicator()
    return [dense[row].tolist() for row in rows], [int(labels.confirmed[row]) for row in rows], answers


@given(st.lists(st.integers(0, N - 1), min_size=1, max_size=7))
def test_getitem_agrees_with_slow_loop(rows):
    labels = ComplementaryLabels.from_answers(ANSWERS)
    taken = labels[rows]
    excluded, confirmed, answers = loop_subset(labels, rows)
    assert taken.indicator().tolist() == excluded
    assert labels.indicator(rows).tolist() == excluded
    assert taken.confirmed.tolist() == confirmed
    columns = (
        taken.answers.example,
        taken.answers.class_index,
        taken.answers.answer,
        taken.answers.annotator,
    )
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == answers
    if len(set(rows)) == len(rows):
        assert taken.ids.tolist() == [str(labels.ids[row]) for row in rows]
    else:
        assert taken.ids is None  # repeated rows have no unique ids


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        ([True, False, False, True], [0, 3]),
        (np.array([False, True, True, False]), [1, 2]),
        ([-1, 0], [3, 0]),
        (2, [2]),
        (-4, [0]),
        (np.array([3, 1], np.uint8), [3, 1]),
        (([2, 0], ...), [2, 0]),
    ],
)
def test_getitem_accepts_slices_masks_and_integers(labels, rows, expected):
    assert labels[rows] == labels[expected]
    if not isinstance(rows, tuple):
        assert labels.indicator(rows).tolist() == labels.indicator()[expected].tolist()


def test_getitem_rejects_invalid_rows(labels):
    for rows in (N, [-N - 1], [True, False], (0, 1), np.array([0.5])):
        with pytest.raises(IndexError):
            labels[rows]
    with pytest.raises(IndexError):
        labels.indicator([-N - 1])
    with pytest.raises(LabelError, match="no rows"):
        labels[[]]


def test_getitem_of_all_rows_equals_original(labels):
    assert labels[:] == labels
    assert labels[::-1][::-1] == labels
    assert labels[::-1] != labels


def test_train_test_split_keeps_features_and_labels_aligned():
    X = np.arange(20)
    labels = ComplementaryLabels.from_single(X % 4, 4, ids=X)
    train_x, test_x, train, test = train_test_split(X, labels, test_size=5, random_state=0)
    for part_x, part in ((train_x, train), (test_x, test)):
        assert isinstance(part, ComplementaryLabels)
        assert part.ids.tolist() == part_x.tolist()
        assert part.indices.tolist() == (part_x % 4).tolist()
    assert (len(train), len(test)) == (15, 5)


def test_cross_validation_and_resample_select_rows():
    X = np.arange(12)
    labels = ComplementaryLabels.from_single(X % 3, 3)
    for _, test in KFold(3).split(X, labels):
        assert _safe_indexing(labels, test).indices.tolist() == (test % 3).tolist()
        mask = np.isin(X, test)
        assert _safe_indexing(labels, mask).indices.tolist() == (test % 3).tolist()
    drawn_x, drawn = resample(X, labels, random_state=0)
    assert drawn.indices.tolist() == (drawn_x % 3).tolist()


def test_labels_do_not_change_with_source_arrays():
    matrix, classes, ids = np.array([[1, 0, 0], [0, 1, 0]]), np.array(["a", "b", "c"]), np.array([1, 2])
    labels = ComplementaryLabels.from_indicator(matrix, classes, ids=ids)
    indptr, indices, confirmed = np.array([0, 1]), np.array([0], np.int32), np.array([1], np.int32)
    direct = ComplementaryLabels(indptr, indices, classes, confirmed=confirmed)
    columns = [np.array([0]), np.array([1], np.int32), np.array([0], np.int8), np.array(["w"])]
    answers = Answers(*columns)
    for array in (matrix, ids, indptr, indices, confirmed, *columns[:3]):
        array[...] = 2
    classes[...] = "z"
    columns[3][...] = "z"
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert labels.classes.tolist() == direct.classes.tolist() == ["a", "b", "c"]
    assert labels.ids.tolist() == [1, 2]
    assert (direct.indices.tolist(), direct.indptr.tolist(), direct.confirmed.tolist()) == ([0], [0, 1], [1])
    assert (answers.example.tolist(), answers.class_index.tolist()) == ([0], [1])
    assert (answers.answer.tolist(), answers.annotator.tolist()) == ([0], ["w"])


def test_label_arrays_are_read_only(labels):
    names = ("indptr", "indices", "classes", "ids", "confirmed", "counts", "per_example")
    arrays = [getattr(labels, name) for name in names]
    arrays += [getattr(labels.answers, name) for name in ("example", "class_index", "answer", "annotator")]
    arrays += [ComplementaryLabels.from_single([0, 1], 3).indices, labels[[1, 0]].indices]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(AttributeError):
        labels.ids = None


def test_indicator_returns_a_new_array(labels):
    before = labels.indicator()
    labels.indicator()[:] = True
    np.asarray(labels)[:] = 1
    assert (labels.indicator() == before).all()
    assert np.asarray(labels).dtype == np.uint8
    assert np.asarray(labels, float).tolist() == before.astype(float).tolist()


def test_equality_compares_every_field():
    def make(**change):
        parts = {"matrix": [[1, 0, 0], [0, 1, 0]], "classes": list("abc"), "ids": ["p", "q"]} | change
        return ComplementaryLabels.from_indicator(**parts)

    assert make() == make()
    assert make() != make(matrix=[[1, 0, 0], [0, 0, 1]])
    assert make() != make(classes=list("abd"))
    assert make() != make(ids=["p", "x"])
    assert make() != make(ids=None)
    assert make() != "labels"
    answers = {"example_id": ["p", "q"], "class_name": ["a", "b"], "answer": ["no", "no"]}
    with_answers = ComplementaryLabels.from_answers(answers, classes=list("abc"))
    assert with_answers != make()
    assert with_answers != ComplementaryLabels.from_answers(
        answers | {"annotator": ["w", ""]}, classes=list("abc")
    )
    with pytest.raises(TypeError):
        hash(make())
    assert repr(make()) == "ComplementaryLabels(n_examples=2, n_classes=3, n_exclusions=2)"


def test_confirmed_is_minus_one_where_unknown():
    labels = ComplementaryLabels.from_single([2, 0, 1], classes=3)
    assert labels.confirmed.tolist() == [-1, -1, -1]
    assert labels.confirmed.dtype == np.int32
    assert labels[[1, 0]].confirmed.tolist() == [-1, -1]
    given = ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=[-1, -1, -1])
    assert given == labels
