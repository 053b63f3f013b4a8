"""Small tables, questions and candidate sets, from tiny files that the tests write."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from scarce.datasets import available_tables, load_table
from scarce.datasets._table_files import read_arff, read_candidate_sets, read_questions
from scarce.datasets.table_dataset import N_TERMS, TableData
from scarce.errors import FileError

ARFF = """%% a comment
@relation 'two words'
@attribute 'first column' real
@attribute colour { red, green, blue}
@attribute many {%s}
@attribute height integer
@attribute class { ant, bee }
@data
1.5,green,v7,3,bee
2,red,v0,4,ant
"""


def arff(n_values: int = 51) -> bytes:
    return (ARFF % ",".join(f"v{number}" for number in range(n_values))).encode()


def test_named_values_become_columns_unless_there_are_many() -> None:
    parts = read_arff(arff())
    assert parts.X.tolist() == [[1.5, 0, 1, 0, 3], [2, 1, 0, 0, 4]]
    assert parts.y.tolist() == [1, 0]
    assert parts.classes == ("ant", "bee")
    assert read_arff(arff(50)).X.shape == (2, 55)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "not an ARFF file"),
        (arff().replace(b"1.5", b"?"), "missing or infinite values"),
        (
            arff().replace(b"{ ant, bee }", b"real").replace(b"bee", b"1").replace(b"ant", b"0"),
            "class, holds numbers",
        ),
        (arff().split(b"1.5")[0], "no rows"),
    ],
)
def test_a_damaged_table_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_arff(content)


def mat(**arrays: object) -> bytes:
    file = io.BytesIO()
    savemat(file, arrays)
    return file.getvalue()


def test_candidate_sets_are_turned() -> None:
    target = sparse.csc_matrix([[1, 0, 0], [0, 1, 1]])
    partial = sparse.csc_matrix([[1, 0, 1], [1, 1, 1]])
    parts = read_candidate_sets(mat(data=np.arange(6.0).reshape(3, 2), target=target, partial_target=partial))
    assert parts.X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert parts.y.tolist() == [0, 1, 1]
    assert parts.classes == ("0", "1")
    assert parts.candidates is not None
    assert parts.candidates.tolist() == [[True, True], [False, True], [True, True]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing", "not a MATLAB file"),
        (mat(data=np.eye(2)), "KeyError: 'partial_target'"),
        (mat(data=np.eye(3), target=np.eye(2), partial_target=np.eye(2)), "expected n × d"),
        (mat(data=np.eye(2), target=np.ones((2, 2)), partial_target=np.eye(2)), "do not name one class"),
        (mat(data=np.eye(2), target=np.eye(2), partial_target=np.zeros((2, 2))), "do not name one class"),
    ],
)
def test_damaged_candidate_sets_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_candidate_sets(content)


def test_questions_are_read_as_latin_1_and_by_their_coarse_class() -> None:
    parts = read_questions(
        "LOC:city Where is K\xf6ln ?\n\nABBR:exp What is a\x85b ?\nLOC:other Where ?\n".encode("latin-1")
    )
    assert parts.X.tolist() == ["Where is K\xf6ln ?", "What is a\x85b ?", "Where ?"]
    assert parts.y.tolist() == [1, 0, 1]
    assert parts.classes == ("ABBR", "LOC")
    with pytest.raises(FileError, match="line 2 is 'no label here'; expected 'COARSE:fine question'"):
        read_questions(b"LOC:city Where ?\nno label here\n")
    with pytest.raises(FileError, match="no questions"):
        read_questions(b"\n")


def test_words_of_test_rows_are_unknown() -> None:
    data = TableData("texts", np.array(["red ant", "red bee", "blue wasp"]), np.array([0, 1, 1]), ("a", "b"))
    train, test = data.features([0, 1], [2])
    assert train.shape == (2, 3)
    assert test.nnz == 0
    many = np.array([" ".join(f"word{number}" for number in range(N_TERMS + 5))])
    assert TableData("many", many, np.array([0]), ("a", "b")).features([0], [0])[0].shape == (1, N_TERMS)


def test_the_checksum_is_of_everything() -> None:
    X, y, sets = np.eye(2), np.array([0, 1]), np.ones((2, 2), bool)
    others = [
        TableData("t", X + 1, y, ("a", "b")),
        TableData("t", X, y[::-1], ("a", "b")),
        TableData("t", X, y, ("a", "c")),
        TableData("t", X, y, ("a", "b"), sets),
        TableData("t", X, y, ("a", "b"), ~sets),
    ]
    checksums = {TableData("t", X, y, ("a", "b")).checksum, *(other.checksum for other in others)}
    assert len(checksums) == 6
    assert TableData("another name", X, y, ("a", "b")).checksum in checksums


def lost(folder: Path) -> None:
    """Write random data of the size of Lost."""
    random = np.random.default_rng(0)
    target = np.eye(16)[random.integers(16, size=1122)].T
    content = mat(
        data=random.normal(size=(1122, 3)), target=target, partial_target=np.maximum(target, target[::-1])
    )
    (folder / "partial-label").mkdir()
    (folder / "partial-label" / "lost.mat.gz").write_bytes(gzip.compress(content))


def test_files_are_found_in_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost(tmp_path)
    data = load_table("lost", tmp_path)
    assert repr(data) == "TableData('lost', 1,122 examples, 16 classes)"
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    assert load_table("lost").checksum == data.checksum


def test_what_is_missing_or_another_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        load_table("vowel", tmp_path)
    assert str(caught.value) == (
        "vowel is not here; expected the file tables/vowel.arff in a folder named with data_dir= (--data-dir) or $SCARCE_DATA."
    )
    (tmp_path / "tables").mkdir()
    path = tmp_path / "tables" / "vowel.arff"
    path.write_bytes(arff())
    with pytest.raises(FileError, match=r"vowel\.arff holds 2 examples of 2 classes; expected 990 of 11"):
        load_table("vowel", tmp_path)
    path.write_bytes(b"?")
    with pytest.raises(FileError, match=r"vowel\.arff: this is not an ARFF file"):
        load_table("vowel", tmp_path)


def test_the_digits_need_no_file() -> None:
    data = load_table("digits")
    assert (len(data.y), len(data.classes)) == (1797, 10)
    assert available_tables()["digits"].file == ""


def test_reading_arff_leaves_the_csv_reader_of_the_process_as_it_was() -> None:
    limit = csv.field_size_limit()
    read_arff(b"@relation r\n@attribute a real\n@attribute c {no,yes}\n@data\n1,yes\n2,no\n")
    assert csv.field_size_limit() == limit
