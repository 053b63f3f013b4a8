"""The summary of labels as text and as plain data."""

import json

import numpy as np

from scarce.labels import ComplementaryLabels


def test_summary_text_counts_answers_and_confirmations():
    labels = ComplementaryLabels.from_answers(
        {
            "example_id": ["p", "p", "q", "r"],
            "class_name": ["cat", "dog", "cat", "zebra"],
            "answer": ["no", "yes", "skip", "no"],
        }
    )
    assert str(labels.summary()).splitlines() == [
        "3 examples, 3 classes, 2 exclusions (0.67 per example)",
        "examples with 0 / 1 / 2 exclusions: 1 / 2 / 0",
        "examples with a confirmed class: 1",
        "answers: 4 (1 skipped)",
        "class  excluded   rate",
        "cat           1  0.333",
        "dog           0  0.000  never excluded: no evidence against it",
        "zebra         1  0.333",
    ]


def test_summary_text_truncates_long_tables():
    lists = [[0, 1, 2], [0], []]
    text = str(ComplementaryLabels.from_lists(lists, 1000).summary())
    assert "examples with 0 / 1 / 2 / 3 exclusions: 1 / 1 / 0 / 1" in text
    assert "... and 980 more classes, 980 of them never excluded" in text
    wide = ComplementaryLabels.from_lists([list(range(25)), []], 30).summary()
    assert "examples without exclusions: 1; most exclusions on one example: 25" in str(wide)


def test_summary_as_dict_is_json_serializable():
    summary = ComplementaryLabels.from_single(np.array([0, 0, 2]), 3).summary().as_dict()
    assert json.loads(json.dumps(summary)) == {
        "n_examples": 3,
        "n_classes": 3,
        "n_exclusions": 3,
        "n_confirmed": 0,
        "n_answers": 0,
        "n_skipped": 0,
        "examples_by_exclusions": [0, 3, 0],
        "classes": [0, 1, 2],
        "counts": [2, 0, 1],
        "rates": [2 / 3, 0.0, 1 / 3],
    }
