"""Rows of text with line numbers from CSV and Parquet files, and errors that name the file and line."""

import pytest

from scarce._io.tables import as_names, cell_text, open_parquet, parquet_header, read_table
from scarce.errors import FileError, LabelError


def test_read_table_counts_lines_of_quoted_cells(tmp_path):
    (tmp_path / "t.csv").write_text('id,text\n1,"two\nlines"\n2,"a, b"\n')
    table = read_table(tmp_path / "t.csv")
    assert table.header == ["id", "text"]
    assert list(table.rows) == [(3, ["1", "two\nlines"]), (4, ["2", "a, b"])]


def test_text_table_columns_of_table_without_rows(tmp_path):
    (tmp_path / "t.csv").write_text("id,text\n")
    assert read_table(tmp_path / "t.csv").columns() == {"id": [], "text": []}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a;b\n1;2\n", "separates its columns by ';'; write it with commas"),
        (b"a,,c\n", "column 2 has no name"),
        (b"a,b,a\n", "two columns are named 'a'"),
        (b"a,b\n1\n", "line 2: expected 2 cells, as in the first line, but found 1"),
        (b"a,b\n\n1,2\n", "line 2 is blank"),
        (b'a,b\n"1,2\n', "is not valid CSV"),
        (b"a,b\n\xff,2\n", "is not UTF-8 text"),
        (b"a,b\n\0,2\n", "contains null bytes"),
    ],
)
def test_read_table_rejects_invalid_csv(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(FileError, match=rf"t\.csv.*{message}"):
        list(read_table(tmp_path / "t.csv").rows)


def test_parquet_is_read_as_csv_would_be(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": [1.0, None], "name": ["cat", "dog"]}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert (table.header, list(table.rows)) == (["id", "name"], [(2, ["1", "cat"]), (3, ["", "dog"])])
    assert parquet_header(tmp_path / "t.parquet") == (2, ["id", "name"])
    assert open_parquet(tmp_path / "t.parquet", ["name"]).column_names == ["name"]


def test_parquet_rejects_damaged_file(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    for read in (read_table, open_parquet, parquet_header):
        with pytest.raises(FileError, match="is damaged or not a Parquet file; write it again"):
            read(tmp_path / "t.parquet")


def test_as_names_keeps_text_unless_all_are_plain_integers():
    assert as_names(["0", "-12"]).tolist() == [0, -12]
    for texts in (["1", "01"], ["1", "+2"], ["1", "-0"], ["1", "1e3"], ["9" * 19]):
        assert as_names(texts).tolist() == texts
    assert as_names([]).dtype.kind == "U"
    with pytest.raises(LabelError, match="row 1: the id is missing"):
        as_names(["a", ""], "id")


def test_cell_text_matches_csv():
    assert [cell_text(value) for value in (None, float("nan"), 2.0, 2.5, b"\xc3\xa9", True)] == [
        "", "", "2", "2.5", "é", "True",
    ]  # fmt: skip
