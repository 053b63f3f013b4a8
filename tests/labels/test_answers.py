"""Contradictory answers: what each conflict policy makes of them, worked out by hand."""

import pytest

from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels

ABC = ["a", "b", "c"]


def resolve(answers, conflict):
    """Return the excluded classes and the confirmed class of one example, given answers such as "a yes, b no"."""
    pairs = [line.split() for line in answers.split(", ")]
    table = {
        "example_id": ["x"] * len(pairs),
        "class_name": [name for name, _ in pairs],
        "answer": [answer for _, answer in pairs],
        "annotator": [f"w{number}" for number in range(len(pairs))],
    }
    labels = ComplementaryLabels.from_answers(table, classes=ABC, conflict=conflict)
    assert len(labels.answers) == len(pairs)  # every policy keeps all answers
    confirmed = "" if labels.confirmed[0] < 0 else ABC[labels.confirmed[0]]
    return "".join(name for name, out in zip(ABC, labels.indicator()[0], strict=True) if out), confirmed


@pytest.mark.parametrize(
    ("answers", "drop", "majority", "error"),
    [
        # answers, (excluded, confirmed) under drop, under majority, error under raise
        ("a yes, a no, b no", ("b", ""), ("b", ""), "both 'yes' and 'no' to class a"),
        ("a no, a no, a yes", ("", ""), ("a", ""), "both 'yes' and 'no' to class a"),
        ("a yes, a yes, a no", ("", ""), ("", "a"), "both 'yes' and 'no' to class a"),
        ("a yes, a yes, a no, b yes", ("", "b"), ("", "a"), "both 'yes' and 'no' to class a"),
        ("a yes, b yes", ("", ""), ("", ""), "'yes' to both a and b"),
        ("a yes, a yes, b yes, c no", ("c", ""), ("c", "a"), "'yes' to both a and b"),
        ("a yes, b yes, c yes", ("", ""), ("", ""), "'yes' to both a and b"),
        ("a no, b no, c no", ("", ""), ("", ""), "'no' to every class"),
        ("a no, a no, b no, c no", ("", ""), ("", ""), "'no' to every class"),
        ("a no, b no, c no, c yes", ("ab", ""), ("ab", ""), "both 'yes' and 'no' to class c"),
        ("a no, b no, c no, c yes, c yes", ("ab", ""), ("ab", "c"), "both 'yes' and 'no' to class c"),
        ("a no, a skip, a skip, a skip", ("a", ""), ("a", ""), None),
        ("a yes, a skip, b no, b no", ("b", "a"), ("b", "a"), None),
        ("a skip, b skip, c skip", ("", ""), ("", ""), None),
        ("a no, b no", ("ab", ""), ("ab", ""), None),
    ],
)
def test_conflict_policy_resolves_contradictory_answers(answers, drop, majority, error):
    assert resolve(answers, "drop") == drop
    assert resolve(answers, "majority") == majority
    if error is None:
        assert resolve(answers, "raise") == drop
    else:
        with pytest.raises(LabelError, match=error) as caught:
            resolve(answers, "raise")
        assert "example x" in str(caught.value)
        assert "conflict=" in str(caught.value)


def test_conflict_policy_leaves_other_examples_unchanged():
    table = {
        "example_id": ["x", "x", "y", "z", "z"],
        "class_name": ["a", "a", "a", "b", "c"],
        "answer": ["yes", "no", "no", "yes", "no"],
    }
    labels = ComplementaryLabels.from_answers(table, classes=ABC, conflict="drop")
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert labels.confirmed.tolist() == [-1, -1, 1]


def test_conflict_policy_applies_to_answer_matrix():
    labels = ComplementaryLabels.from_answer_matrix([[1, 1, 0], [0, 0, 0]], conflict="drop")
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [0, 0, 0]]
    assert labels.confirmed.tolist() == [-1, -1]
