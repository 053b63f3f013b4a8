"""Labels do not change when they are written and read again."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.errors import FileError, LabelError
from scarce.labels import Answers, ComplementaryLabels, read_labels, write_labels

# Text that a file can hold, without digits, because integers are read as numbers.
NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Nd"), exclude_characters="\0"), min_size=1, max_size=5
).filter(lambda name: name.strip() and name not in ("example_id", "excluded", "class_name", "answer"))


def distinct(elements, size):
    return st.lists(elements, min_size=size, max_size=size, unique=True)


def names(size):
    return st.one_of(distinct(NAMES, size), distinct(st.integers(-(10**12), 10**12), size))


@st.composite
def plain_labels(draw):
    n, q = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    rows = []
    for _ in range(n):
        row = draw(st.lists(st.sampled_from(["yes", "no", ""]), min_size=q, max_size=q))
        row[draw(st.integers(0, q - 1))] = ""  # never exclude all classes
        if row.count("yes") > 1:
            row = [cell if cell != "yes" else "" for cell in row]
        rows.append([{"yes": 1.0, "no": 0.0, "": np.nan}[cell] for cell in row])
    made = ComplementaryLabels.from_answer_matrix(rows, draw(names(q)))
    return ComplementaryLabels(made.indptr, made.indices, made.classes, draw(names(n)), made.confirmed)


@st.composite
def answered_labels(draw):
    n, q = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    ids, classes = draw(names(n)), draw(names(q))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, n - 1),
                st.integers(0, q - 1),
                st.sampled_from(["yes", "no", "skip"]),
                st.one_of(st.just(""), NAMES),
            ),
            max_size=12,
        )
    )
    table = {
        "example_id": [ids[row[0]] for row in rows],
        "class_name": [classes[row[1]] for row in rows],
        "answer": [row[2] for row in rows],
        "annotator": [row[3] for row in rows],
    }
    conflict = draw(st.sampled_from(["drop", "majority"]))
    return ComplementaryLabels.from_answers(table, classes, ids=ids, conflict=conflict), conflict


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("labels")


@settings(deadline=None, max_examples=40)
@given(labels=plain_labels())
def test_csv_and_npz_round_trip_matrix(folder, labels):
    for suffix in ("csv", "npz"):
        labels.save(folder / f"plain.{suffix}", force=True)
        assert read_labels(folder / f"plain.{suffix}") == labels


@settings(deadline=None, max_examples=40)
@given(made=answered_labels())
def test_csv_and_npz_round_trip_answers(folder, made):
    labels, conflict = made
    labels.save(folder / "answers.npz", force=True)
    assert read_labels(folder / "answers.npz") == labels
    labels.save(folder / "answers.csv", force=True)
    assert read_labels(folder / "answers.csv", classes=labels.classes, conflict=conflict) == labels
    again = read_labels(folder / "answers.csv", conflict=conflict)
    assert again.ids.tolist() == labels.ids.tolist()
    assert again.classes.tolist() == sorted(labels.classes.tolist())


def test_csv_of_matrix_quotes_names_and_numbers_rows(tmp_path):
    labels = ComplementaryLabels.from_answer_matrix([["no", "yes"], ["", ""]], ["cat, big", 'the "dog"'])
    ComplementaryLabels(labels.indptr, labels.indices, labels.classes, None, labels.confirmed).save(
        tmp_path / "a.csv"
    )
    assert (tmp_path / "a.csv").read_bytes() == b'example_id,"cat, big","the ""dog"""\r\n0,no,yes\r\n1,,\r\n'
    assert read_labels(tmp_path / "a.csv").ids.tolist() == [0, 1]  # row numbers serve as ids


def test_csv_of_answers_keeps_examples_and_classes_without_question(tmp_path):
    table = {"example_id": ["q"], "class_name": ["b"], "answer": ["skip"], "annotator": ["ann"]}
    labels = ComplementaryLabels.from_answers(table, classes=["c", "b", "a"], ids=["p", "q"])
    labels.save(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["example_id", "class_name", "answer", "annotator"],
            ["p", "c", "", ""],
            ["q", "b", "skip", "ann"],
            ["p", "c", "", ""],
            ["p", "a", "", ""],
        ]
    assert read_labels(tmp_path / "a.csv", classes=["c", "b", "a"]) == labels


@pytest.mark.parametrize(
    "parts",
    [
        {"classes": [0.5, 1.5, 2.5]},
        {"classes": [True, False, 2]},
        {"classes": ["1", "2", "03"], "ids": ["7", "8"]},
        {"classes": ["ä", "日本", "🐈"], "ids": ["a\nb", " c "]},
        {"classes": np.array([2**63, 1, 2], np.uint64)},
    ],
)
def test_npz_keeps_types_of_classes_and_ids(tmp_path, parts):
    labels = ComplementaryLabels.from_indicator([[1, 0, 0], [0, 0, 1]], **parts)
    labels.save(tmp_path / "a.npz")
    again = read_labels(tmp_path / "a.npz")
    assert again == labels
    assert again.classes.dtype == labels.classes.dtype


def test_npz_stores_format_name_and_no_objects(tmp_path):
    ComplementaryLabels.from_single([0, 1], 3).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert str(file["format"]) == "scarce-labels-1"
        assert all(file[name].dtype.kind != "O" for name in file.files)


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_read_labels_follows_order_of_given_classes(tmp_path, suffix):
    labels = ComplementaryLabels.from_answer_matrix([["no", "yes", ""], ["", "", "no"]], ["a", "b", "c"])
    labels.save(tmp_path / f"x.{suffix}")
    again = read_labels(tmp_path / f"x.{suffix}", classes=["c", "a", "b"])
    assert again.indicator(dtype=int).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert again.confirmed.tolist() == [2, -1]
    assert again.answers.class_index.tolist() == [1, 2, 0]


def test_save_rejects_existing_file_and_unknown_suffix(tmp_path):
    labels = ComplementaryLabels.from_single([0, 1], 3)
    labels.save(tmp_path / "new" / "a.csv")
    with pytest.raises(FileError, match=r"a\.csv exists; .*force=True \(--force\)"):
        labels.save(tmp_path / "new" / "a.csv")
    labels[[1]].save(tmp_path / "new" / "a.csv", force=True)
    assert len(read_labels(tmp_path / "new" / "a.csv")) == 1
    with pytest.raises(FileError, match=r"written to \.csv or \.npz"):
        write_labels(labels, tmp_path / "a.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        labels.save(tmp_path / "folder.csv", force=True)
    with pytest.raises(FileError, match="cannot be written"):
        labels.save(tmp_path / "new" / "a.csv" / "b.csv")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.csv"]  # no temporary files


@pytest.mark.parametrize("name", ["example_id", "excluded"])
def test_csv_rejects_ambiguous_class_names(tmp_path, name):
    with pytest.raises(LabelError, match=r"ambiguous; save as \.npz"):
        ComplementaryLabels.from_single([0], [0, name, "x"]).save(tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_csv_rejects_labels_not_covered_by_answers(tmp_path):
    labels = ComplementaryLabels(
        np.array([0, 1]), np.array([0]), np.array(["a", "b"]), answers=Answers.from_columns([0], [1], [-1])
    )
    with pytest.raises(LabelError, match=r"not what their answers imply.*\.npz"):
        labels.save(tmp_path / "a.csv")
    labels.save(tmp_path / "a.npz")
    assert read_labels(tmp_path / "a.npz") == labels


def test_csv_rejects_text_outside_utf8(tmp_path):
    labels = ComplementaryLabels.from_single([0], 3, ids=["\ud800"])
    with pytest.raises(LabelError, match="UTF-8"):
        labels.save(tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
