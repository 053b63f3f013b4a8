"""Convert input to compressed rows and class names; each converter rejects input of any other kind.

A function called ``from_…`` returns the first three columns of `ComplementaryLabels`: ``indptr``, ``indices`` and ``classes``.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from scarce._arrays import Array, IntArray, csr_from_pairs
from scarce._class_names import check_classes, encode_names, lookup_codes, names_to_array, text_or_empty
from scarce._validation import abbreviate
from scarce.errors import LabelError
from scarce.labels.answers import NO, NOT_ASKED, YES, Answers, parse_answers

ExclusionColumns = tuple[IntArray, IntArray, Array]


def from_indicator(matrix: Any, classes: Iterable[Any] | None) -> ExclusionColumns:
    """Convert a matrix of shape (n, q) in which 1 means "not this class"."""
    shape, rows, columns = _find_ones(matrix, "the indicator")
    names = _check_width(classes, shape[1])
    return *csr_from_pairs(rows, columns, shape), names


def from_candidates(matrix: Any, classes: Iterable[Any] | None) -> ExclusionColumns:
    """Convert a matrix of shape (n, q) in which 1 means "still possible"."""
    shape, rows, columns = _find_ones(matrix, "the candidate matrix")
    excluded = np.ones(shape, bool)
    excluded[rows, columns] = False
    return from_indicator(excluded, classes)


def _find_ones(matrix: Any, meaning: str) -> tuple[tuple[int, int], IntArray, IntArray]:
    """Return the shape (n, q) of a 0/1 matrix, dense or sparse, and the rows and columns of its ones."""
    if sparse.issparse(matrix):
        coordinates = sparse.coo_matrix(matrix)
        shape, values = coordinates.shape, coordinates.data
        rows, columns = coordinates.row[values != 0], coordinates.col[values != 0]
    else:
        dense = _as_array(matrix, meaning)
        if dense.ndim != 2:
            raise LabelError(
                f"{meaning} has shape {dense.shape}; expected an n × q matrix of 0 and 1. For one excluded class per "
                "example use ComplementaryLabels.from_single(y, classes); for lists of classes use from_lists."
            )
        if dense.dtype.kind not in "biuf":
            raise LabelError(
                f"{meaning} contains {dense.dtype} values; expected 0 and 1. For lists of class names use from_lists."
            )
        shape, values = dense.shape, dense
        rows, columns = np.nonzero(dense)
    invalid = (values != 0) & (values != 1)
    if invalid.any():
        position = np.argwhere(invalid)[0]
        value = values[tuple(position)]
        row = int(coordinates.row[position[0]]) if sparse.issparse(matrix) else int(position[0])
        fix = (
            "use from_answer_matrix for yes / no / not asked"
            if np.isnan(value)
            else "use from_columns for class numbers"
        )
        raise LabelError(f"row {row}: {meaning} contains the value {value}; expected only 0 and 1 ({fix}).")
    return (int(shape[0]), int(shape[1])), rows, columns


def _check_width(classes: Iterable[Any] | None, width: int) -> Array:
    """Return the class names of a matrix with `width` columns, by default their numbers."""
    names = check_classes(width if classes is None else classes)
    if len(names) != width:
        raise LabelError(
            f"the matrix has {width} columns but classes names {len(names)}; expected one column per class: correct classes."
        )
    return names


def from_lists(rows: Iterable[Collection[Any]], classes: int | Iterable[Any]) -> ExclusionColumns:
    """Convert n lists (or sets) of excluded class names."""
    names = check_classes(classes)
    shape = getattr(rows, "shape", ())
    if len(shape) > 1:
        raise LabelError(
            f"from_lists expects one list of class names per example, got a matrix of shape {shape}; "
            "for 0 and 1 use from_indicator, for class numbers use from_columns."
        )
    if not isinstance(rows, Iterable):
        raise LabelError(
            f"from_lists expects one list of class names per example, got {rows!r}; for no exclusion pass an empty list."
        )
    lists = rows if isinstance(rows, Sequence) else list(rows)
    for number, row in enumerate(lists):
        if (
            isinstance(row, (str, bytes))
            or not isinstance(row, Collection)
            or (isinstance(row, np.ndarray) and row.ndim != 1)
        ):
            raise LabelError(
                f"row {number}: got {row!r}, expected a list of class names such as [{row!r}]. "
                "For one class per example use ComplementaryLabels.from_single(y, classes)."
            )
    code = {name: index for index, name in enumerate(names.tolist())}
    try:
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        columns = np.fromiter(map(code.__getitem__, chain.from_iterable(lists)), np.int32, lengths.sum())
    except (KeyError, TypeError) as error:
        for number, row in enumerate(lists):
            unknown = [name for name in row if not _is_known(name, code)]
            if unknown:
                raise LabelError(
                    f"row {number}: {unknown[0]!r} is not one of the classes ({abbreviate(names)}); "
                    "correct it or add it to classes."
                ) from error
        raise
    numbers = np.repeat(np.arange(len(lists), dtype=np.int32), lengths)
    return *csr_from_pairs(numbers, columns, (len(lists), len(names))), names


def _is_known(name: Any, code: dict[Any, int]) -> bool:
    try:
        return name in code
    except TypeError:
        return False


def _as_array(matrix: Any, what: str) -> Array:
    try:
        array = np.asarray(matrix)
        if array.dtype.kind == "U" and not hasattr(matrix, "__array__"):
            array = np.asarray(matrix, dtype=object)  # else NaN in a list of text would become the text "nan"
        return array
    except (TypeError, ValueError):
        raise LabelError(
            f"{what} has rows of different lengths; expected a rectangular table. For lists of classes use from_lists."
        ) from None


def from_ordinary(y: Any, classes: Any) -> ExclusionColumns:
    """Convert n true classes to the exclusion of every other class, without building a dense matrix.

    Examples
    --------
    >>> indptr, indices, classes = from_ordinary([1, 0], 3)
    >>> indptr.tolist(), indices.tolist()
    ([0, 2, 4], [0, 2, 1, 2])
    """
    values = names_to_array(y, "class")
    names = check_classes(np.unique(values) if classes is None else classes)
    codes = encode_names(values, names)
    others = np.arange(len(names) - 1, dtype=np.int32)
    excluded = others + (others >= codes[:, None])
    return np.arange(len(codes) + 1) * len(others), excluded.ravel(), names


def from_single(excluded: Any, classes: int | Iterable[Any]) -> ExclusionColumns:
    """Convert exactly one excluded class per example."""
    names = check_classes(classes)
    values = names_to_array(excluded, "excluded class")
    if values.ndim != 1:
        raise LabelError(
            f"from_single expects one class per example, got an array of shape {values.shape}; use from_columns or from_indicator."
        )
    rows, columns = np.arange(len(values)), encode_names(values, names)
    return *csr_from_pairs(rows, columns, (len(values), len(names))), names


def from_columns(table: Any, classes: int | Iterable[Any], missing: Any) -> ExclusionColumns:
    """Convert an n × m table of excluded classes; `missing`, NaN and empty text mark empty cells."""
    names = check_classes(classes)
    cells = _as_array(table, "the table of columns")
    if cells.ndim != 2:
        raise LabelError(
            f"from_columns expects an n × m table, got shape {cells.shape}; for one class per example use from_single."
        )
    if cells.dtype.kind not in "iufbU":
        cells = text_or_empty(cells.ravel()).reshape(cells.shape)
    is_blank, missing_value = (
        (cells == "", str(missing)) if cells.dtype.kind == "U" else (np.isnan(cells), missing)
    )
    is_empty = is_blank | (cells == missing_value)
    rows = np.nonzero(~is_empty)[0]
    columns = encode_names(cells[~is_empty], names, rows=rows)
    return *csr_from_pairs(rows, columns, (len(cells), len(names))), names


def answers_from_matrix(matrix: Any, classes: Iterable[Any] | None) -> tuple[Answers, int, Array]:
    """Return the answers in a matrix of shape (n, q), n, and the class names.

    Cells are 1 or yes, 0 or no, −1 or skip, and NaN, None or empty where the question was not asked.
    """
    cells = _as_array(matrix, "the answer matrix")
    if cells.ndim != 2:
        raise LabelError(
            f"the answer matrix has shape {cells.shape}; expected n × q, one column per class. For one "
            "row per question use from_answers."
        )
    if cells.dtype.kind in "biuf":
        codes = (
            np.where(np.isnan(cells), NOT_ASKED, cells) if cells.dtype.kind == "f" else cells.astype(np.int64)
        )
        invalid = ~np.isin(codes, (YES, NO, -1, NOT_ASKED)) | ((codes == NOT_ASKED) & (cells == NOT_ASKED))
        if invalid.any():
            row, column = np.argwhere(invalid)[0]
            raise LabelError(
                f"row {row}, column {column}: the answer {cells[row, column]} is not understood; "
                "expected 1 (yes), 0 (no), -1 (skip) or NaN (not asked): correct it."
            )
    else:
        codes = parse_answers(text_or_empty(cells.ravel()).reshape(cells.shape))
    rows, columns = np.nonzero(codes != NOT_ASKED)
    answers = Answers.from_columns(rows, columns, codes[rows, columns])
    return answers, len(cells), _check_width(classes, cells.shape[1])


def answers_from_table(table: Any, classes: Any, ids: Any) -> tuple[Answers, Array, Array]:
    """Return the answers in a table with one row per question, the ids (n), and the class names (q)."""
    if not hasattr(table, "keys"):
        raise LabelError(
            f"the answer table is a {type(table).__name__}; expected a DataFrame or a dict with the columns "
            "example_id, class_name and answer: pass pandas.DataFrame(table, columns=[...])."
        )
    columns = {}
    for name in ("example_id", "class_name", "answer", "annotator"):
        if name in table:
            columns[name] = (
                text_or_empty(table[name])
                if name in ("answer", "annotator")
                else _required_column(table[name], name)
            )
        elif name != "annotator":
            raise LabelError(
                f"the answer table lacks the column {name!r}; it has {abbreviate(table)}. Rename its columns."
            )
    if len({column.shape for column in columns.values()}) > 1:
        sizes = ", ".join(f"{column.size} {name}" for name, column in columns.items())
        raise LabelError(
            f"the answer table has {sizes} values; expected columns of equal length: pass one value per question in each."
        )
    examples, asked, codes = columns["example_id"], columns["class_name"], parse_answers(columns["answer"])
    names = check_classes(np.unique(asked) if classes is None else classes)
    class_index = encode_names(asked, names)
    if ids is None:
        values, first = np.unique(examples, return_index=True)
        ids = values[np.argsort(first)]
    ids = names_to_array(ids, "id")
    rows = lookup_codes(examples, ids)
    if (rows < 0).any():
        raise LabelError(
            f"row {int(np.argmax(rows < 0))}: example {examples[rows < 0][0]!s} is not in ids; add it or leave ids out."
        )
    was_asked = codes != NOT_ASKED
    annotators = columns["annotator"][was_asked] if "annotator" in columns else None
    answers = Answers.from_columns(rows[was_asked], class_index[was_asked], codes[was_asked], annotators)
    return answers, ids, names


def _required_column(values: Any, name: str) -> Array:
    column = names_to_array(values, name)
    if column.dtype.kind == "U" and (column == "").any():
        raise LabelError(
            f"row {int(np.argmax(column == ''))}: the {name} is missing; fill it in or leave the row out."
        )
    return column
