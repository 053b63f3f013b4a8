"""Forms of label tables: recognized by the header or passed as ``form``, never guessed from the values."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, csr_from_pairs
from scarce._class_names import check_classes, lookup_codes
from scarce._io.tables import Row, TextTable, as_names
from scarce._limits import check_names_fit
from scarce._validation import abbreviate
from scarce.errors import LabelError
from scarce.labels.answers import Conflict
from scarce.labels.container import ComplementaryLabels

TABLE_FORMS = ("answers", "answer-matrix", "lists", "indicator", "candidates", "single", "columns")
ARRAY_FORMS = ("answer-matrix", "indicator", "candidates", "single", "columns")
_ID_COLUMN = "example_id"
_NAN = float("nan")
_YES_NO = {"yes": 1.0, "no": 0.0, "": _NAN}
_ANSWERS = _YES_NO | {"skip": -1.0, "1": 1.0, "0": 0.0, "-1": -1.0, "1.0": 1.0, "0.0": 0.0, "-1.0": -1.0}
_ZERO_ONE = {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0, "true": 1.0, "false": 0.0}


def from_table(table: TextTable, form: str | None, classes: Any, conflict: Conflict) -> ComplementaryLabels:
    """Make labels from a table; without `form`, infer the form from the header.

    Columns ``class_name`` and ``answer`` mean a table of answers, a column ``excluded`` means lists of class names separated by
    ``;``, and anything else means a matrix of yes, no and empty cells.
    """
    if _ID_COLUMN not in table.header and "id" in table.header:
        table = replace(table, header=[_ID_COLUMN if name == "id" else name for name in table.header])
    form = form or _infer_form(table.header)
    if form == "answers":
        columns: dict[str, Any] = dict(table.columns())
        names = {
            name: as_names(columns[name], name) for name in (_ID_COLUMN, "class_name") if name in columns
        }
        return ComplementaryLabels.from_answers(columns | names, classes, conflict=conflict)
    if form in ("lists", "single"):
        return _from_excluded(table, form, classes)
    if form == "columns":
        return _from_columns(table, classes)
    return with_classes(_from_matrix(table, form, conflict), classes)


def from_array(matrix: Array, form: str, classes: Any, conflict: Conflict) -> ComplementaryLabels:
    """Make labels from an array in one of the `ARRAY_FORMS`; arrays have no ids and no header."""
    if form == "single":
        return ComplementaryLabels.from_single(matrix, _check_classes_given(classes, form))
    if form == "columns":
        return ComplementaryLabels.from_columns(matrix, _check_classes_given(classes, form))
    if classes is not None:
        classes = check_classes(classes)
    if form == "answer-matrix":
        return ComplementaryLabels.from_answer_matrix(matrix, classes, conflict=conflict)
    if form == "indicator":
        return ComplementaryLabels.from_indicator(matrix, classes)
    return ComplementaryLabels.from_candidates(matrix, classes)


def with_classes(labels: ComplementaryLabels, classes: Any) -> ComplementaryLabels:
    """Return the labels with their classes in the order of `classes`.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels of n examples and q classes.
    classes : int or sequence of length q, optional
        The same classes in the order wanted; by default the order stays.

    Returns
    -------
    ComplementaryLabels
        The labels with reordered classes.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["dog"], classes=["cat", "dog", "cow"])
    >>> with_classes(labels, ["dog", "cow", "cat"]).indices.tolist()
    [0]
    """
    if classes is None:
        return labels
    names = check_classes(classes)
    codes = lookup_codes(labels.classes, names)
    if len(names) != labels.n_classes or (codes < 0).any():
        raise LabelError(
            f"the file has the classes {abbreviate(labels.classes)}, but classes={abbreviate(names)}; expected the same classes "
            "in any order: add the missing column, or correct classes."
        )
    rows = np.repeat(np.arange(labels.n_examples), labels.per_example)
    answers = labels.answers and replace(labels.answers, class_index=codes[labels.answers.class_index])
    confirmed = np.where(labels.confirmed >= 0, codes[labels.confirmed], -1)
    excluded = csr_from_pairs(rows, codes[labels.indices], labels.shape)
    return ComplementaryLabels(*excluded, names, labels.ids, confirmed, answers)


def _infer_form(header: list[str]) -> Literal["answers", "lists", "yes-no"]:
    if {"class_name", "answer"} <= set(header):
        return "answers"
    return "lists" if "excluded" in header else "yes-no"


def _check_classes_given(classes: Any, form: str) -> Array:
    if classes is None:
        raise LabelError(
            f"the form {form!r} does not name the classes; pass all of them as classes=[...] (--classes)."
        )
    return check_classes(classes)


def _from_excluded(table: TextTable, form: str, classes: Any) -> ComplementaryLabels:
    names = _check_classes_given(classes, form)
    if "excluded" not in table.header:
        raise LabelError(
            f"the form {form!r} needs a column 'excluded'; the file has {abbreviate(table.header)}. Rename its column."
        )
    columns = table.columns()
    ids = as_names(columns[_ID_COLUMN], _ID_COLUMN) if _ID_COLUMN in columns else None
    if form == "single":
        check_names_fit(columns["excluded"], "class name")
        return ComplementaryLabels.from_single(np.array(columns["excluded"], str), names, ids=ids)
    lists = [[name.strip() for name in cell.split(";") if name.strip()] for cell in columns["excluded"]]
    labels = ComplementaryLabels.from_lists(lists, names.astype(str), ids=ids)
    return replace(labels, classes=names)


def _from_columns(table: TextTable, classes: Any) -> ComplementaryLabels:
    names = _check_classes_given(classes, "columns")
    columns = table.columns()
    ids = as_names(columns.pop(_ID_COLUMN), _ID_COLUMN) if _ID_COLUMN in columns else None
    if not columns:
        raise LabelError(
            "the file has no columns besides example_id; the form 'columns' needs columns of class names: add them."
        )
    check_names_fit((cell for column in columns.values() for cell in column), "class name")
    cells = np.array(list(columns.values()), str).T
    return ComplementaryLabels.from_columns(cells, names, ids=ids)


def _from_matrix(table: TextTable, form: str, conflict: Conflict) -> ComplementaryLabels:
    id_position = table.header.index(_ID_COLUMN) if _ID_COLUMN in table.header else None
    if table.header == [_ID_COLUMN]:
        raise LabelError(
            "the table has no columns besides example_id; expected one column per class: add them."
        )
    classes = as_names(name for name in table.header if name != _ID_COLUMN)
    codes, hint = {
        "yes-no": (_YES_NO, "yes, no or an empty cell in one column per class; for a file in another form, pass form= (--form)"),
        "answer-matrix": (_ANSWERS, "yes (1), no (0), skip (-1) or an empty cell"),
        "indicator": (_ZERO_ONE, "0 or 1 (not this class)"),
        "candidates": (_ZERO_ONE, "0 or 1 (still possible)"),
    }[form]  # fmt: skip
    texts, cells = _read_cells(table.header, table.rows, id_position, codes, hint)
    ids = None if id_position is None else as_names(texts, _ID_COLUMN)
    if form == "indicator":
        return ComplementaryLabels.from_indicator(cells, classes, ids=ids)
    if form == "candidates":
        return ComplementaryLabels.from_candidates(cells, classes, ids=ids)
    labels = ComplementaryLabels.from_answer_matrix(cells, classes, ids=ids, conflict=conflict)
    return replace(labels, answers=None) if form == "yes-no" else labels


def _read_cells(
    header: list[str], rows: Iterable[Row], id_position: int | None, codes: Mapping[str, float], hint: str
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the ids, and the other cells encoded by `codes` as a matrix of shape (n, q)."""
    ids, numbers = [], array("f")
    for line, row in rows:
        if id_position is not None:
            ids.append(row.pop(id_position))
        try:
            numbers.extend([codes[cell] for cell in row])
        except KeyError:  # the cell has blanks or capitals, or is invalid
            for column, cell in zip((name for name in header if name != _ID_COLUMN), row, strict=True):
                if cell.strip().lower() not in codes:
                    raise LabelError(
                        f"line {line}, column {column}: the cell {cell!r} is not understood; expected {hint}."
                    ) from None
            numbers.extend([codes[cell.strip().lower()] for cell in row])
    width = len(header) - (id_position is not None)
    return ids, np.frombuffer(numbers, np.float32).reshape(-1, width)
