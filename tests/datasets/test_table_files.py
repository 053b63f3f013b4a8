"""Readers of ARFF tables, MATLAB candidate sets and question files."""

import csv

import numpy as np
import pytest
from helpers.dataset_files import arff_bytes, mat_bytes
from scipy import sparse

from scarce.datasets._table_files import read_arff, read_candidate_sets, read_questions
from scarce.errors import FileError


def test_read_arff_encodes_nominal_attributes_unless_too_many_values() -> None:
    parts = read_arff(arff_bytes())
    assert parts.X.tolist() == [[1.5, 0, 1, 0, 3], [2, 1, 0, 0, 4]]
    assert parts.y.tolist() == [1, 0]
    assert parts.classes == ("ant", "bee")
    assert read_arff(arff_bytes(50)).X.shape == (2, 55)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "not an ARFF file"),
        (arff_bytes().replace(b"1.5", b"?"), "missing or infinite values"),
        (
            arff_bytes().replace(b"{ ant, bee }", b"real").replace(b"bee", b"1").replace(b"ant", b"0"),
            "class, is not nominal",
        ),
        (arff_bytes().split(b"1.5")[0], "no rows"),
    ],
)
def test_read_arff_rejects_damaged_file(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_arff(content)


def test_read_candidate_sets_transposes_matrices() -> None:
    target = sparse.csc_matrix([[1, 0, 0], [0, 1, 1]])
    partial = sparse.csc_matrix([[1, 0, 1], [1, 1, 1]])
    parts = read_candidate_sets(
        mat_bytes(data=np.arange(6.0).reshape(3, 2), target=target, partial_target=partial)
    )
    assert parts.X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert parts.y.tolist() == [0, 1, 1]
    assert parts.classes == ("0", "1")
    assert parts.candidates is not None
    assert parts.candidates.tolist() == [[True, True], [False, True], [True, True]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing", "not a MATLAB file"),
        (mat_bytes(data=np.eye(2)), "KeyError: 'partial_target'"),
        (mat_bytes(data=np.eye(3), target=np.eye(2), partial_target=np.eye(2)), "expected n × d"),
        (
            mat_bytes(data=np.eye(2), target=np.ones((2, 2)), partial_target=np.eye(2)),
            "do not hold exactly one class",
        ),
        (
            mat_bytes(data=np.eye(2), target=np.eye(2), partial_target=np.zeros((2, 2))),
            "do not hold exactly one class",
        ),
    ],
)
def test_read_candidate_sets_rejects_damaged_file(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_candidate_sets(content)


def test_read_questions_decodes_latin_1_and_takes_coarse_class() -> None:
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


def test_read_arff_restores_csv_field_size_limit() -> None:
    limit = csv.field_size_limit()
    read_arff(b"@relation r\n@attribute a real\n@attribute c {no,yes}\n@data\n1,yes\n2,no\n")
    assert csv.field_size_limit() == limit
