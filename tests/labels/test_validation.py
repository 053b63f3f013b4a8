"""Invalid labels: the error names the row and the fix."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from scarce.errors import LabelError, MethodError
from scarce.labels import Answers, ComplementaryLabels
from scarce.labels.io import read_labels, write_labels

ABC = ["a", "b", "c"]
NAN = float("nan")
L = ComplementaryLabels


def answer_table(**columns):
    return {"example_id": ["p", "q"], "class_name": ["a", "b"], "answer": ["no", "no"]} | columns


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        # A row that excludes every class.
        (lambda: L.from_indicator([[0, 1], [1, 1]]), ["row 1", "excludes every class", "add the missing class"]),
        (lambda: L.from_lists([[], ["a", "b", "c"]], ABC, ids=["p", "q"]), ["row 1 (id q)", "every class"]),
        (lambda: L.from_candidates([[1, 0], [0, 0]]), ["row 1", "every class"]),
        (lambda: L.from_columns([["a", "b", "c"]], ABC), ["row 0", "every class"]),
        (lambda: L.from_answer_matrix([[NAN, 0], [0, 0]]), ["example 1", "'no' to every class", "conflict="]),
        # An unknown class.
        (lambda: L.from_lists([["a"], ["a", "x"]], ABC), ["row 1", "'x'", "a, b, c", "add it to classes"]),
        (lambda: L.from_lists([["a"], {"x"}], ABC), ["row 1", "'x'"]),
        (lambda: L.from_lists([[["a"]]], ABC), ["row 0", "['a']"]),
        (lambda: L.from_lists([["a"], [None]], ABC), ["row 1", "None"]),
        (lambda: L.from_lists([np.array("a")], ABC), ["row 0", "a"]),
        (lambda: L.from_single(["a", "x"], ABC), ["row 1", "x is not one of the classes", "correct it or add it"]),
        (lambda: L.from_single([0, 3], 3), ["row 1", "3 is not one of the classes"]),
        (lambda: L.from_single([0, -1], 3), ["row 1", "-1 is not one of the classes"]),
        (lambda: L.from_columns([[0, -1], [1, 3]], 3), ["row 1", "3 is not one"]),
        (lambda: L.from_columns([[0, NAN], [1.5, 0]], 3), ["row 1", "1.5 is not one"]),
        (lambda: L.from_answers(answer_table(), classes=["b", "c"]), ["row 0", "a is not one of the classes"]),
        # A string instead of a list, and a list instead of a string.
        (lambda: L.from_lists([["a"], "bc"], ABC), ["row 1", "['bc']", "from_single"]),
        (lambda: L.from_lists("abc", ABC), ["row 0", "from_single"]),
        (lambda: L.from_lists(["a", "b"], ABC), ["row 0", "['a']", "from_single"]),
        (lambda: L.from_lists([["a"], NAN], ABC), ["row 1", "expected a list"]),
        (lambda: L.from_lists(5, ABC), ["one list of class names per example", "5"]),
        (lambda: L.from_lists(np.eye(3), 3), ["shape (3, 3)", "from_indicator", "from_columns"]),
        (lambda: L.from_lists(sparse.eye(3).tocsr(), 3), ["shape (3, 3)", "from_indicator"]),
        (lambda: L.from_single("abc", ABC), ["single string 'abc'"]),
        (lambda: L.from_single(4, ABC), ["int", "one excluded class per row"]),
        (lambda: L.from_single([[0], [1, 2]], 3), ["one excluded class per row"]),
        (lambda: L.from_single([[0, 1], [1, 2]], 3), ["shape (2, 2)", "from_columns"]),
        (lambda: L.from_single(pd.DataFrame({"y": [1, 2]}), 3), ["shape (2, 1)"]),
        (lambda: L.from_columns([0, 1], 3), ["n × m", "from_single"]),
        (lambda: L.from_columns([[0], [1, 2]], 3), ["different lengths", "from_lists"]),
        # Two "yes".
        (lambda: L.from_answer_matrix([[NAN] * 3, [1, NAN, 1]], ABC), ["example 1", "a and c", "conflict='drop'"]),
        # Values that are not 0 or 1.
        (lambda: L.from_indicator([[0, 1], [2, 0]]), ["row 1", "value 2", "from_columns"]),
        (lambda: L.from_indicator([[0, 1], [-1, 0]]), ["row 1", "value -1"]),
        (lambda: L.from_indicator([[0, 1], [0.5, 0]]), ["row 1", "value 0.5"]),
        (lambda: L.from_indicator(sparse.csr_array([[0, 1, 0], [0, 0, 2]])), ["row 1", "value 2"]),
        (lambda: L.from_indicator([["a", "b"]]), ["expected 0 and 1", "from_lists"]),
        (lambda: L.from_indicator([0, 1, 1]), ["shape (3,)", "from_single"]),
        (lambda: L.from_indicator([[0, 1], [1]]), ["different lengths"]),
        (lambda: L.from_candidates([[1, 0], [3, 0]]), ["row 1", "value 3"]),
        (lambda: L.from_answer_matrix([[1, 0], [2, 0]]), ["row 1, column 0", "answer 2", "expected 1 (yes)"]),
        (lambda: L.from_answer_matrix([[1, -2]]), ["row 0, column 1", "-2"]),
        (lambda: L.from_answer_matrix([["yes", "no"], ["no", "perhaps"]]), ["row 1, column 1", "'perhaps'"]),
        (lambda: L.from_answer_matrix([1, 0]), ["shape (2,)", "n × q"]),
        (lambda: L.from_answers(answer_table(answer=["no", "hm"])), ["row 1", "'hm'", "yes, no or skip"]),
        # Missing values.
        (lambda: L.from_indicator([[0, 1, 0], [NAN, 0, 0]]), ["row 1", "nan", "from_answer_matrix"]),
        (lambda: L.from_single([0, NAN], 3), ["row 1", "missing"]),
        (lambda: L.from_single([0, None], 3), ["row 1", "missing"]),
        (lambda: L.from_single([0, 1], 3, ids=["p", None]), ["row 1", "id is missing"]),
        (lambda: L.from_answers(answer_table(class_name=["a", None])), ["row 1", "class_name is missing"]),
        (lambda: L.from_answers(answer_table(class_name=["a", ""])), ["row 1", "class_name is missing"]),
        (lambda: L.from_answers(answer_table(example_id=[1.0, NAN])), ["row 1", "example_id is missing"]),
        # Classes.
        (lambda: L.from_single([0], 1), ["at least 2", "classes=[...]"]),
        (lambda: L.from_single([0], None), ["classes is None", "classes=[...]"]),
        (lambda: L.from_single([0], 3.0), ["classes is 3.0"]),
        (lambda: L.from_single(["a"], "abc"), ["single string 'abc'"]),
        (lambda: L.from_single(["a"], {"a", "b"}), ["set", "sorted(classes)"]),
        (lambda: L.from_single(["a"], ["a", "b", "a"]), ["class a is named twice"]),
        (lambda: L.from_single(["a"], ["a", ""]), ["class 1 has an empty name"]),
        (lambda: L.from_single(["a"], ["a", NAN]), ["row 1", "class name is missing"]),
        (lambda: L.from_indicator([[0, 1]], ["a", "b", "c"]), ["2 columns", "names 3"]),
        (lambda: L.from_answers(answer_table(class_name=["a", "a"])), ["1 name(s)", "classes=[...]"]),
        # Ids and sizes.
        (lambda: L.from_single([0, 1, 0], 3, ids=["p", "q", "p"]), ["id p", "rows 0 and 2", "distinct"]),
        (lambda: L.from_single([0, 1], 3, ids=["p"]), ["ids has shape (1,)", "2 examples"]),
        (lambda: L.from_single([0, 1], 3, ids=7), ["one id per row"]),
        (lambda: L.from_answer_matrix([[0, NAN]], ids=["p", "q"]), ["ids has 2 values for 1 examples"]),
        (lambda: L.from_lists([], ABC), ["no rows"]),
        (lambda: L.from_indicator(np.zeros((0, 3))), ["no rows"]),
        # The table of answers.
        (lambda: L.from_answers({"example_id": [1], "answer": ["no"]}), ["lacks the column 'class_name'", "Rename"]),
        (lambda: L.from_answers([("p", "a", "no")]), ["list", "DataFrame"]),
        (lambda: L.from_answers(answer_table(answer=["no"])), ["1 answer", "equal length"]),
        (lambda: L.from_answers(answer_table(annotator=["x"])), ["1 annotator", "equal length"]),
        (lambda: L.from_answers(answer_table(answer=5)), ["5", "one value per row"]),
        (lambda: L.from_answers(answer_table(), ids=["p"], classes=ABC), ["row 1", "example q is not in ids"]),
        (lambda: L.from_answers(answer_table(), ids=[], classes=ABC), ["row 0", "not in ids"]),
        # Built from CSR arrays.
        (lambda: L(np.array([0, 1]), np.array([0]), ABC, confirmed=np.array([0])), ["row 0", "confirmed as a"]),
        (lambda: L(np.array([0, 1]), np.array([0]), ABC, confirmed=np.array([3])), ["confirmed", "-1 (unknown) to 2"]),
        (lambda: L(np.array([0, 1]), np.array([3]), ABC), ["indices", "0 to 2"]),
        (lambda: L(np.array([0, 2]), np.array([1, 0]), ABC), ["sorted"]),
        (lambda: L(np.array([0, 2]), np.array([1, 1]), ABC), ["distinct"]),
        (lambda: L(np.array([0, 2, 1]), np.array([0]), ABC), ["indptr"]),
        (lambda: L(np.array([0]), np.array([]), ABC), ["no rows"]),
        (
            lambda: L(np.array([0, 0]), np.array([]), ABC, answers=Answers.from_columns([1], [0], [0])),
            ["'example' of the answers", "0 to 0"],
        ),
        (
            lambda: L(np.array([0, 0]), np.array([]), ABC, answers=Answers.from_columns([0], [3], [0])),
            ["'class_index' of the answers"],
        ),
    ],
)  # fmt: skip
def test_invalid_labels_raise_error_naming_row_and_fix(make, parts):
    with pytest.raises(LabelError) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_from_answers_rejects_unknown_conflict_policy():
    with pytest.raises(
        MethodError, match="conflict='vote' is unknown; expected 'raise', 'drop' or 'majority'"
    ):
        L.from_answers(answer_table(), conflict="vote")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("indices", [2**32 + 1, 0]),
        ("indptr", [0, 1.5, 2]),
        ("confirmed", [-1, 2**32]),
        ("indices", [np.nan, 0]),
    ],
)
def test_numbers_that_would_wrap_or_be_rounded_are_rejected(column, values):
    columns = {"indptr": [0, 1, 2], "indices": [1, 0], "confirmed": [-1, -1]} | {column: values}
    with pytest.raises(LabelError, match=f"{column} contains .*; expected whole numbers from -"):
        ComplementaryLabels(
            np.array(columns["indptr"]),
            np.array(columns["indices"]),
            3,
            confirmed=np.array(columns["confirmed"]),
        )


def test_answers_that_would_wrap_are_rejected():
    with pytest.raises(LabelError, match="answer contains 257; expected whole numbers from -128 to 127"):
        Answers.from_columns([0, 1], [0, 1], [257, 0])
    with pytest.raises(LabelError, match="class_index contains 4294967296"):
        Answers(np.array([0]), np.array([2**32]), np.array([1]), np.array(["ann"]))


def test_npz_with_wrapped_index_is_rejected(tmp_path):
    labels = ComplementaryLabels.from_single([1, 0], classes=3)
    write_labels(labels, tmp_path / "x.npz")
    arrays = dict(np.load(tmp_path / "x.npz"))
    np.savez(tmp_path / "x.npz", **arrays | {"indices": arrays["indices"].astype(np.int64) + 2**32})
    with pytest.raises(LabelError, match=r"x\.npz: indices contains 4294967297"):
        read_labels(tmp_path / "x.npz")


def test_missing_date_as_id_is_rejected():
    with pytest.raises(LabelError, match="row 1: the id is missing"):
        ComplementaryLabels.from_single([0, 1], 3, ids=np.array(["2020-01-01", "NaT"], "datetime64[D]"))
