"""CSV and Parquet tables, read as a header and rows of text with their line numbers."""

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from scarce._arrays import Array
from scarce._class_names import is_missing
from scarce._io.paths import check_file
from scarce._limits import BYTES_PER_TEXT_CELL, check_bytes, check_names_fit
from scarce.errors import FileError, LabelError

Row = tuple[int, list[str]]
_TEXT_TYPES = {"string", "large_string", "binary", "large_binary"}
_BYTES_PER_NUMBER = 8
_PARQUET_FIX = "write it as several smaller files"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class TextTable:
    """The column names of a table, and an iterator that reads its rows lazily, once.

    Attributes
    ----------
    header : list of str
        The distinct names of the columns.
    rows : iterator of (int, list of str)
        For each row, its line in the file, counted from 1, and one cell per column.
    """

    header: list[str]
    rows: Iterator[Row]

    def columns(self) -> dict[str, list[str]]:
        """Read all rows and return their cells by column."""
        cells = zip(*(row for _, row in self.rows), strict=True)
        return dict(zip(self.header, map(list, cells), strict=False)) or {name: [] for name in self.header}


def as_names(texts: Iterable[str], what: str = "name") -> Array:
    """Return names as integers if all are plain decimal integers, else as text; none may be empty.

    Examples
    --------
    >>> as_names(["3", "-1"]).tolist(), as_names(["3", "007"]).tolist()
    ([3, -1], ['3', '007'])
    """
    texts = list(texts)
    if "" in texts:
        raise LabelError(f"row {texts.index('')}: the {what} is missing; fill it in or leave the row out.")
    check_names_fit(texts, what)
    is_whole = all(_INTEGER.fullmatch(text) for text in texts)
    return np.array(texts, dtype=str).astype(np.int64) if is_whole and texts else np.array(texts, dtype=str)


def read_table(path: str | Path) -> TextTable:
    r"""Open a ``.csv`` or ``.parquet`` file as a table of text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("example_id,cat\np1,no\n")
    ...     table = read_table(Path(folder, "t.csv"))
    ...     table.header, list(table.rows)
    (['example_id', 'cat'], [(2, ['p1', 'no'])])
    """
    path = check_file(path)
    rows = _parquet_rows(path) if path.suffix.lower() == ".parquet" else _csv_rows(path)
    _, header = next(rows, (1, []))
    _check_header(header, path)
    return TextTable(header, rows)


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise FileError(f"{path} is empty; expected a first line with the names of the columns.")
    if len(header) == 1 and (separator := next((char for char in ";\t|" if char in header[0]), "")):
        raise FileError(f"{path} separates its columns by {separator!r}; write it with commas.")
    for index, name in enumerate(header):
        if not name.strip():
            raise FileError(
                f"{path}: column {index + 1} has no name in the first line; name it, or leave it out "
                "(pandas: to_csv(index=False))."
            )
        if name in header[:index]:
            raise FileError(f"{path}: two columns are named {name!r}; give each column a unique name.")


def _csv_rows(path: Path) -> Iterator[Row]:
    reader, width, blank = None, 0, 0
    try:
        check_bytes(path.stat().st_size, path, "write fewer rows, or save features as .npy")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(_text_lines(file, path), strict=True)
            for row in reader:
                if not row:
                    blank = blank or reader.line_num
                    continue
                if blank:
                    raise FileError(
                        f'{path} line {blank} is blank; remove it (write a single empty cell as "").'
                    )
                width = width or len(row)
                if len(row) != width:
                    raise FileError(
                        f"{path} line {reader.line_num}: expected {width} cells, as in the first line, but found {len(row)}; "
                        "correct the line (a name with a comma needs quotes), or export the file again if it is truncated."
                    )
                yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path} is not UTF-8 text ({error.reason}); save it as a CSV file in UTF-8."
        ) from error
    except csv.Error as error:
        line = reader.line_num if reader is not None else 0
        raise FileError(f"{path} line {line} is not valid CSV: {error}; correct its quotes.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _text_lines(file: TextIO, path: Path) -> Iterator[str]:
    for line in file:
        if "\0" in line:
            raise FileError(
                f"{path} contains null bytes: it is damaged or not a text file; save it as CSV in UTF-8."
            )
        yield line


def open_parquet(path: str | Path, columns: list[str] | None = None) -> Any:
    """Return the pyarrow table of a Parquet file, or some of its columns.

    Examples
    --------
    >>> open_parquet("nowhere.parquet")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.parquet does not exist; check the path.
    """
    path = check_file(path)
    with _parquet_module(path) as parquet:
        _check_parquet_size(parquet.read_metadata(path), columns, path)
        texts = [field.name for field in parquet.read_schema(path) if str(field.type) in _TEXT_TYPES]
        # Equal texts stay one text until their total length is known.
        table = parquet.read_table(path, columns=columns, partitioning=None, read_dictionary=texts)
        for number, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            if str(getattr(column.type, "value_type", "")) in _TEXT_TYPES and hasattr(
                column.type, "index_type"
            ):
                column = _decode(column, path)
                table = table.set_column(number, name, column)
            if str(column.type) in _TEXT_TYPES:
                column.validate(full=True)  # that it is UTF-8
    _check_header(table.column_names, path)
    return table


def _check_parquet_size(metadata: Any, columns: list[str] | None, path: Path) -> None:
    """Raise `FileError` if the columns would take too much memory by the counts and sizes in the header of a Parquet file."""
    # Not the sizes of single columns: pyarrow aborts the process if a damaged header lacks them.
    n_columns = metadata.num_columns if columns is None else len(columns)
    n_encoded = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    check_bytes(
        max(metadata.num_rows * n_columns * _BYTES_PER_NUMBER, n_encoded if columns is None else 0),
        path,
        _PARQUET_FIX,
    )


def _decode(column: Any, path: Path) -> Any:
    """Return a column with codes of distinct texts as plain text, if that does not take too much memory."""
    from pyarrow import compute

    n_bytes = 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary)
        n_bytes += compute.sum(compute.cast(lengths.take(chunk.indices), "int64")).as_py() or 0
    check_bytes(n_bytes, path, _PARQUET_FIX)
    return column.cast(column.type.value_type)


def parquet_header(path: str | Path) -> tuple[int, list[str]]:
    """Return the number of rows and the names of the columns of a Parquet file, without reading the rows.

    Examples
    --------
    >>> parquet_header("nowhere.parquet")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.parquet does not exist; check the path.
    """
    path = check_file(path)
    with _parquet_module(path) as parquet:
        metadata = parquet.read_metadata(path)
        names = metadata.schema.to_arrow_schema().names
    _check_header(names, path)
    return metadata.num_rows, names


@contextmanager
def _parquet_module(path: Path) -> Iterator[Any]:
    """Yield pyarrow's module for Parquet files, and raise its errors as `FileError`."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise FileError(
            f'{path} cannot be read without pyarrow: pip install "scarce[parquet]", or save it as CSV.'
        ) from None
    try:
        yield parquet
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"{path} does not fit into memory; write it as several smaller files.") from error
    except Exception as error:  # pyarrow raises many kinds of errors for damaged files
        raise FileError(f"{path} is damaged or not a Parquet file; write it again.") from error


def _parquet_rows(path: Path) -> Iterator[Row]:
    n_rows, names = parquet_header(path)
    check_bytes(n_rows * len(names) * BYTES_PER_TEXT_CELL, path, _PARQUET_FIX)
    table = open_parquet(path)
    yield 1, list(table.column_names)
    columns = [[cell_text(value) for value in column.to_pylist()] for column in table.columns]
    for number, cells in enumerate(zip(*columns, strict=True)):
        yield number + 2, list(cells)


def cell_text(value: Any) -> str:
    """Return the text that a CSV file would hold for a value of a Parquet file.

    Examples
    --------
    >>> cell_text(3.0), cell_text(None), cell_text("cat")
    ('3', '', 'cat')
    """
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of whole numbers with gaps is stored as floats
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
