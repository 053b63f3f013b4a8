"""Table forms: recognized by the header or named by the user, never guessed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scarce.errors import FileError, LabelError, MethodError
from scarce.labels import ComplementaryLabels, read_labels

PETS = ["cat", "cow", "dog"]


@pytest.fixture
def write_file(tmp_path):
    def write_file(text, name="labels.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write_file


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("example_id,cat,cow,dog\np1,no,,no\np2,,,\np3,,no,\n", {}),
        ("\ufeffexample_id,cat,cow,dog\r\np1, No ,,NO\r\np2,,,\r\np3,,no,\r\n\r\n\r\n", {}),
        ("cat,cow,example_id,dog\nno,,p1,no\n,,p2,\n,no,p3,\n", {}),
        ("example_id,cat,cow,dog\np1,1,0,1\np2,0,0,0\np3,0,1,0\n", {"form": "indicator"}),
        ("example_id,cat,cow,dog\np1,1.0,0.0,TRUE\np2,0,0,0\np3,0,1,false\n", {"form": "indicator"}),
        ("example_id,cat,cow,dog\np1,0,1,0\np2,1,1,1\np3,1,0,1\n", {"form": "candidates"}),
        ("example_id,excluded\np1,cat;dog\np2,\np3,cow\n", {"classes": PETS}),
        ("example_id,excluded,note\np1,cat; dog;,x\np2,,\np3,cow,y\n", {"classes": PETS, "form": "lists"}),
        ("example_id,first,second\np1,dog,cat\np2,,\np3,cow,cow\n", {"classes": PETS, "form": "columns"}),
    ],
)
def test_table_forms_give_equal_labels(write_file, text, options):
    labels = read_labels(write_file(text), **options)
    expected = ComplementaryLabels.from_lists([["cat", "dog"], [], ["cow"]], PETS, ids=["p1", "p2", "p3"])
    assert labels == expected


def test_long_table_and_answer_matrix_keep_answers(write_file):
    long = read_labels(
        write_file(
            "answer,example_id,class_name,annotator,ms\nno,p1,cat,ann,9\nyes,p1,dog,,8\nskip,p2,cow,bob,7\n"
        )
    )
    wide = read_labels(write_file("example_id,cat,cow,dog\np1,0,,1\np2,,-1,\n"), form="answer-matrix")
    words = read_labels(write_file("example_id,cat,cow,dog\np1,no,,yes\np2,,skip,\n"), form="answer-matrix")
    for labels in (long, wide, words):
        assert labels.indicator(dtype=int).tolist() == [[1, 0, 0], [0, 0, 0]]
        assert labels.confirmed.tolist() == [2, -1]
        assert labels.answers.answer.tolist() == [0, 1, -1]
        assert labels.ids.tolist() == ["p1", "p2"]
    assert long.answers.annotator.tolist() == ["ann", "", "bob"]


def test_matrix_of_yes_and_no_confirms_without_answer_table(write_file):
    labels = read_labels(write_file("example_id,cat,cow,dog\np1,no,yes,\n"))
    assert (labels.confirmed.tolist(), labels.answers) == ([1], None)
    with pytest.raises(LabelError, match=r"labels\.csv: example p1: 'yes' to both"):
        read_labels(write_file("example_id,cat,cow,dog\np1,yes,yes,\n"))
    dropped = read_labels(write_file("example_id,cat,cow,dog\np1,yes,yes,no\n"), conflict="drop")
    assert (dropped.indices.tolist(), dropped.confirmed.tolist()) == ([2], [-1])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("cat,cow,dog\nno,,\n,no,\n", {}),
        ("cat,cow,dog\n1,0,0\n0,1,0\n", {"form": "indicator"}),
        ("excluded\ncat\ncow\n", {"form": "single", "classes": PETS}),
        ("first,second\ncat,\n,cow\n", {"form": "columns", "classes": PETS}),
    ],
)
def test_tables_without_ids_keep_row_order(write_file, text, options):
    assert read_labels(write_file(text), **options) == ComplementaryLabels.from_single(["cat", "cow"], PETS)


def test_names_and_ids_become_integers_only_if_all_are(write_file):
    labels = read_labels(write_file("example_id,0,1,2\n10,no,,\n-3,,no,\n"))
    assert labels.classes.tolist() == [0, 1, 2]
    assert labels.ids.tolist() == [10, -3]
    labels = read_labels(write_file("example_id,0,1,x\n007,no,,\n8,,no,\n"))
    assert labels.classes.tolist() == ["0", "1", "x"]
    assert labels.ids.tolist() == ["007", "8"]
    labels = read_labels(write_file("example_id,excluded\na,2;0\nb,1\n"), classes=3)
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert labels.classes.tolist() == [0, 1, 2]
    labels = read_labels(write_file("example_id,a,b\n1,2,-1\n2,0,1\n"), form="columns", classes=3)
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("example_id,cat,cow\np1,1,0\n", {}, ["line 2, column cat", "'1'", "form="]),
        ("example_id,cat,cow\np1,no,\np2,,skip\n", {}, ["line 3, column cow", "'skip'", "form="]),
        ("width,height\n0.5,0.7\n", {}, ["line 2, column width", "'0.5'"]),
        ("example_id,cat,cow\np1,1,\n", {"form": "indicator"}, ["line 2, column cow", "''", "0 or 1"]),
        ("example_id,cat,cow\np1,1,0\np2,1,2\n", {"form": "candidates"}, ["line 3, column cow", "'2'"]),
        ("example_id,cat,cow\np1,maybe,\n", {"form": "answer-matrix"}, ["line 2, column cat", "'maybe'"]),
        ("example_id,excluded\np1,cat\n", {}, ["'lists'", "classes=[...]"]),
        ("example_id,excluded\np1,cat\n", {"form": "single"}, ["'single'", "classes=[...]"]),
        ("example_id,no\np1,cat\n", {"form": "single", "classes": PETS}, ["column 'excluded'", "Rename"]),
        ("example_id,a\np1,cat\n", {"form": "columns"}, ["'columns'", "classes=[...]"]),
        ("example_id\np1\n", {"form": "columns", "classes": PETS}, ["columns of class names"]),
        ("example_id,excluded\np1,cat;pig\n", {"classes": PETS}, ["row 0", "'pig'"]),
        ("example_id,excluded\np1,cat\np2,\n", {"form": "single", "classes": PETS}, ["row 1"]),
        (
            "example_id,excluded\np1,cat\np2,cat;dog\n",
            {"form": "single", "classes": PETS},
            ["row 1", "cat;dog"],
        ),
        ("example_id,cat,cow\np1,no,\np1,,no\n", {}, ["id p1", "rows 0 and 1"]),
        ("example_id,cat,cow\np1,no,\n,,no\n", {}, ["row 1", "example_id is missing"]),
        ("example_id,cat,cow\np1,no,no\n", {}, ["example p1", "every class"]),
        ("example_id,cat,cow\n", {}, ["no rows"]),
        ("example_id,cat\np1,no\n", {}, ["1 name(s)"]),
        (
            "example_id,cat,cow\np1,no,\n",
            {"classes": PETS},
            ["classes cat, cow", "classes=cat, cow, dog", "add"],
        ),
        ("class_name,answer\ncat,no\n", {}, ["lacks the column 'example_id'"]),
        ("example_id,class_name,answer\np,cat,no\nq,cow,eh\n", {}, ["row 1", "'eh'"]),
        ("example_id,class_name,answer\np,cat,no\nq,,no\n", {}, ["row 1", "class_name is missing"]),
        ("example_id,class_name,answer\np,cat,no\n,cow,no\n", {}, ["row 1", "example_id is missing"]),
        ("example_id,class_name,answer\n", {}, ["0 name(s)"]),
        ("example_id,class_name,answer\n", {"classes": PETS}, ["no rows"]),
    ],
)
def test_read_labels_rejects_invalid_table(write_file, text, options, parts):
    with pytest.raises(LabelError) as caught:
        read_labels(write_file(text), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts)
    if options.keys() <= {"classes"}:
        assert "labels.csv: " in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "table"}, "form='table' is unknown; expected 'answers', 'answer-matrix'.* or 'prodigy'"),
        ({"conflict": "vote"}, "conflict='vote' is unknown; expected 'raise', 'drop' or 'majority'"),
    ],
)
def test_read_labels_rejects_unknown_option(write_file, options, message):
    with pytest.raises(MethodError, match=message):
        read_labels(write_file("a,b\n"), **options)


@pytest.mark.parametrize(
    ("array", "options", "expected"),
    [
        ([[1, 0, 0], [0, 1, 1]], {"form": "indicator"}, [[1, 0, 0], [0, 1, 1]]),
        ([[1, 0, 0], [0, 1, 1]], {"form": "candidates", "classes": PETS}, [[0, 1, 1], [1, 0, 0]]),
        ([[0.0, np.nan, 1.0], [np.nan, np.nan, 0.0]], {"form": "answer-matrix"}, [[1, 0, 0], [0, 0, 1]]),
        ([2, 0], {"form": "single", "classes": 3}, [[0, 0, 1], [1, 0, 0]]),
        ([[2, 0], [1, -1]], {"form": "columns", "classes": 3}, [[1, 0, 1], [0, 1, 0]]),
        (["dog", "cat"], {"form": "single", "classes": PETS}, [[0, 0, 1], [1, 0, 0]]),
    ],
)
def test_npy_forms_give_expected_exclusions(tmp_path, array, options, expected):
    np.save(tmp_path / "a.npy", np.array(array))
    assert read_labels(tmp_path / "a.npy", **options).indicator(dtype=int).tolist() == expected


@pytest.mark.parametrize("form", [None, "lists", "answers"])
def test_npy_requires_form(tmp_path, form):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(LabelError, match=r"a\.npy: an array does not state its form.*indicator, candidates"):
        read_labels(tmp_path / "a.npy", form=form)
    with pytest.raises(LabelError, match=r"a\.npy: the form 'single' does not name the classes"):
        read_labels(tmp_path / "a.npy", form="single")


def test_parquet_follows_rules_of_csv(tmp_path):
    long = pa.table({"example_id": [1, 1, 2], "class_name": PETS, "answer": [False, True, None]})
    pq.write_table(long, tmp_path / "long.parquet")
    labels = read_labels(tmp_path / "long.parquet")
    assert (labels.ids.tolist(), labels.confirmed.tolist()) == ([1, 2], [1, -1])
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 0], [0, 0, 0]]
    wide = pa.table({"example_id": ["p", "q"], "cat": ["no", None], "cow": [None, "yes"]})
    pq.write_table(wide, tmp_path / "wide.parquet")
    labels = read_labels(tmp_path / "wide.parquet")
    assert (labels.indices.tolist(), labels.confirmed.tolist()) == ([0], [-1, 1])
    numbers = pa.table({"example_id": [1.0, 2.0], "cat": [1, 0], "cow": [0.0, 1.0]})
    pq.write_table(numbers, tmp_path / "numbers.parquet")
    with pytest.raises(LabelError, match=r"numbers\.parquet: line 2, column cat: the cell '1'.*form="):
        read_labels(tmp_path / "numbers.parquet")
    labels = read_labels(tmp_path / "numbers.parquet", form="indicator")
    assert (labels.indices.tolist(), labels.ids.tolist()) == ([0, 1], [1, 2])


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(
        ValueError, match=r'a\.parquet cannot be read without pyarrow.*pip install "scarce\[parquet\]"'
    ):
        read_labels(tmp_path / "a.parquet")


def test_json_requires_form(write_file):
    with pytest.raises(
        LabelError,
        match=r"a\.json: a \.json file does not state which tool wrote it.*label-studio-excluded.*prodigy",
    ):
        read_labels(write_file("[]", "a.json"))


def test_npz_rejects_form_and_other_classes(tmp_path):
    ComplementaryLabels.from_single([0], 3).save(tmp_path / "a.npz")
    with pytest.raises(LabelError, match=r"a\.npz: .*leave out form='lists'"):
        read_labels(tmp_path / "a.npz", form="lists")
    with pytest.raises(LabelError, match=r"a\.npz: .*classes=0, 1, 2, 3"):
        read_labels(tmp_path / "a.npz", classes=4)


def test_table_without_class_columns_is_rejected(tmp_path):
    (tmp_path / "a.csv").write_text("example_id\np1\n")
    with pytest.raises(LabelError, match="no columns besides example_id; expected one column per class"):
        read_labels(tmp_path / "a.csv")


def test_parquet_text_that_is_not_utf8_is_rejected(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    pq.write_table(pa.table({"cat": broken, "dog": ["no"]}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match=r"a\.parquet is damaged or not a Parquet file"):
        read_labels(tmp_path / "a.parquet")


def test_categories_of_parquet_are_read_as_text(tmp_path):
    pd.DataFrame({"cat": ["no", "yes"], "dog": ["no", ""]}, dtype="category").to_parquet(
        tmp_path / "a.parquet"
    )
    labels = read_labels(tmp_path / "a.parquet", conflict="drop")
    assert labels.classes.tolist() == ["cat", "dog"]
    assert labels.confirmed.tolist() == [-1, 0]
