"""Read features from tables, in which every column is numeric, except possibly a column of ids."""

import math
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.tables import Row, TextTable, as_names, cell_text, open_parquet, read_table
from scarce._validation import abbreviate
from scarce.errors import FeatureError

_CHUNK_ROWS = 4096
TableFeatures = tuple[NDArray[Any], NDArray[Any] | None, list[str]]


def find_id_column(header: list[str], id_column: str | None) -> str | None:
    """Return the name of the id column: `id_column` if given, else ``example_id`` or ``id`` if present, else None.

    Examples
    --------
    >>> find_id_column(["id", "width"], None)
    'id'
    """
    if id_column is not None:
        if id_column not in header:
            raise FeatureError(
                f"there is no column {id_column!r}; the columns are {abbreviate(header)}: correct id_column= (--id-column)."
            )
        return id_column
    found = [name for name in ("example_id", "id") if name in header]
    if len(found) > 1:
        raise FeatureError(
            "both example_id and id are columns; expected one column of ids: pass its name as id_column= (--id-column)."
        )
    return found[0] if found else None


def read_csv_features(path: Path, id_column: str | None) -> TableFeatures:
    """Return the values (n × d), ids and column names of a CSV file with a header."""
    table = read_table(path)
    _check_header(table.header)
    ids_name = find_id_column(table.header, id_column)
    names = [name for name in table.header if name != ids_name]
    ids: list[str] = []
    chunks = []
    rows = _split_ids(table, ids_name, ids)
    while chunk := list(islice(rows, _CHUNK_ROWS)):
        chunks.append(_to_floats(chunk, names))
    if not chunks:
        raise FeatureError(
            "the table has a header but no rows; expected one row per example: check that the file is complete."
        )
    return np.concatenate(chunks), None if ids_name is None else as_names(ids, "id"), names


def _split_ids(table: TextTable, ids_name: str | None, ids: list[str]) -> Iterable[Row]:
    column = None if ids_name is None else table.header.index(ids_name)
    for line, row in table.rows:
        if column is not None:
            ids.append(row.pop(column))
        yield line, row


def _to_floats(rows: list[Row], names: list[str]) -> NDArray[np.float64]:
    try:
        _check_plain("".join(chain.from_iterable(row for _, row in rows)))
        values = np.array([[float(cell) for cell in row] for _, row in rows], np.float64)
        if np.isinf(values).any():
            raise ValueError("a number is infinite")
        return values.reshape(len(rows), -1)
    except ValueError:
        for line, row in rows:
            for name, cell in zip(names, row, strict=True):
                if not cell.strip():
                    raise FeatureError(
                        f"line {line}, column {name}: the value is missing; fill it in, or leave the row out."
                    ) from None
                if not _is_number(cell) or math.isinf(float(cell)):
                    raise FeatureError(
                        f"line {line}, column {name}: {cell!r} is not a finite number; encode the column as numbers, drop "
                        "it, or pass it as id_column= (--id-column) if it identifies the examples."
                    ) from None
        raise


def _check_plain(text: str) -> None:
    """Raise `ValueError` if a text contains what Python accepts in a number, but other programs do not write."""
    if "_" in text or not text.isascii():
        raise ValueError("an underscore or a digit of another script")


def _is_number(cell: str) -> bool:
    try:
        _check_plain(cell)
        float(cell)
    except ValueError:
        return False
    return True


def _check_header(header: list[str]) -> None:
    # pandas names unnamed columns 0, 1, 2, ...; any other numbers in the header are data.
    if all(map(_is_number, header)) and header != [str(column) for column in range(len(header))]:
        raise FeatureError(
            "line 1 contains numbers; expected the names of the columns: add them as the first line."
        )


def read_parquet_features(path: Path, id_column: str | None) -> TableFeatures:
    """Return the values (n × d), ids and column names of a Parquet file."""
    table = open_parquet(path)
    ids_name = find_id_column(table.column_names, id_column)
    names = [name for name in table.column_names if name != ids_name]
    if table.num_rows == 0:
        raise FeatureError(
            "the table has no rows; expected one row per example: check that the file is complete."
        )
    ids = None if ids_name is None else parquet_ids(table, ids_name)
    return parquet_values(table, names), ids, names


def parquet_ids(table: Any, name: str) -> NDArray[Any]:
    """Return a column of a pyarrow table as ids, shape (n,)."""
    return as_names(map(cell_text, table[name].to_pylist()), "id")


def parquet_values(table: Any, names: list[str]) -> NDArray[np.float64]:
    """Return columns of a pyarrow table as numbers, shape (n, len(names))."""
    values = np.empty((table.num_rows, len(names)))
    for column, name in enumerate(names):
        numbers = table[name].to_numpy()
        if table[name].null_count:
            row = table[name].is_null().to_numpy().argmax()
            raise FeatureError(
                f"row {row}, column {name}: the value is missing; fill it in, or leave the row out."
            )
        if numbers.dtype.kind not in "biuf":
            raise FeatureError(
                f"column {name} contains {table[name].type} values; expected numbers: encode it, drop it, or pass it "
                "as id_column= (--id-column) if it identifies the examples."
            )
        values[:, column] = numbers
    return values
