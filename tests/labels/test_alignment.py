"""Labels are aligned with features by their ids."""

import pytest

from scarce.errors import LabelError, MethodError
from scarce.labels import ComplementaryLabels

LABELS = ComplementaryLabels.from_answers(
    {
        "example_id": [1, 1, 2, 3],
        "class_name": ["a", "b", "c", "a"],
        "answer": ["no", "yes", "no", "no"],
        "annotator": ["w", "w", "v", "v"],
    }
)


def test_exact_join_reorders_labels_to_match_features():
    aligned, rows = LABELS.align(["3", "1", "2"])  # ids compare as text
    assert aligned == LABELS[[2, 0, 1]]
    assert aligned.ids.tolist() == [3, 1, 2]
    assert rows.tolist() == [0, 1, 2]


def test_inner_join_keeps_shared_ids():
    aligned, rows = LABELS.align([9, 2, 1], join="inner")
    assert aligned == LABELS[[1, 0]]
    assert rows.tolist() == [1, 2]


def test_left_join_treats_unmatched_features_as_unlabeled():
    aligned, rows = LABELS.align([9, 2, 8, 1], join="left")
    assert rows.tolist() == [0, 1, 2, 3]
    assert aligned.ids.tolist() == [9, 2, 8, 1]
    assert aligned.indicator(dtype=int).tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert aligned.confirmed.tolist() == [-1, -1, -1, 1]
    assert aligned.answers.example.tolist() == [1, 3, 3]
    assert aligned.answers.annotator.tolist() == ["v", "w", "w"]
    assert LABELS.align([1, 2, 3], join="left")[0] == LABELS


@pytest.mark.parametrize(
    ("ids", "join", "parts"),
    [
        ([1, 2], "exact", ["1 label rows have no features (3)", "join='inner'", "--join"]),
        ([1, 2, 3, 4, 5], "exact", ["2 feature rows have no labels (4, 5)", "join='left'"]),
        ([7, 8], "inner", ["no id of the features (7, 8)", "(1, 2, 3)"]),
        ([1, 2, 1], "inner", ["the id 1 occurs in 2 feature rows", "distinct"]),
        ([1, None], "inner", ["row 1", "missing"]),
    ],
)
def test_align_rejects_mismatched_ids(ids, join, parts):
    with pytest.raises(LabelError) as caught:
        LABELS.align(ids, join=join)
    assert all(part in str(caught.value) for part in parts)


def test_align_rejects_labels_without_ids():
    with pytest.raises(LabelError, match=r"no ids to join by; make them with ids="):
        ComplementaryLabels.from_single([0], 3).align([0])


def test_align_rejects_unknown_join():
    with pytest.raises(MethodError, match="join='outer' is unknown; expected 'exact', 'inner' or 'left'"):
        LABELS.align([1, 2, 3], join="outer")
