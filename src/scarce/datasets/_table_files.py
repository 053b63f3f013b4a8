"""Read small tables: ARFF, MATLAB files with candidate sets, and lists of questions."""

import csv
import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce.errors import FileError

_MAX_NOMINAL_VALUES = 50


class TableArrays(NamedTuple):
    """The content of a file: features, true classes `y` as indices into `classes`, and candidate sets, if any."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    candidates: NDArray[np.bool_] | None = None


def read_arff(content: bytes) -> TableArrays:
    r"""Read a table whose last column is the class.

    Nominal columns with at most 50 values are one-hot encoded. Other columns that are not numeric are left out.

    Examples
    --------
    >>> text = "@relation r\n@attribute a real\n@attribute b {x,y}\n@attribute c {no,yes}\n@data\n1,x,yes\n2,y,no\n"
    >>> arrays = read_arff(text.encode())
    >>> arrays.X.tolist(), arrays.y.tolist(), arrays.classes
    ([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]], [1, 0], ('no', 'yes'))
    """
    from scipy.io import arff  # slow to import, and needed here only

    limit = csv.field_size_limit()
    try:
        rows, meta = arff.loadarff(io.StringIO(content.decode("latin-1")))
    except Exception as error:  # SciPy raises errors of many kinds
        raise FileError(f"this is not an ARFF file: {' '.join(str(error).split())}.") from error
    finally:
        csv.field_size_limit(limit)  # SciPy increases the limit for the whole process
    if not len(rows):
        raise FileError("the table has no rows; expected one row per example.")
    *names, target = meta.names()
    kind, classes = meta[target]
    if kind != "nominal":
        raise FileError(
            f"the last column, {target}, is not nominal; expected the class, a column with named values."
        )
    columns: list[NDArray[Any]] = []
    for name in names:
        kind, values = meta[name]
        if kind == "numeric":
            columns.append(rows[name].astype(np.float64)[:, None])
        elif kind == "nominal" and len(values) <= _MAX_NOMINAL_VALUES:
            columns.append((rows[name][:, None] == np.array(values, "S")).astype(np.float64))
    if not columns:
        raise FileError(
            "the table has no columns to learn from; expected numeric columns, or nominal ones with at most 50 values."
        )
    X = _check_finite(np.hstack(columns))
    class_bytes = np.array(classes, "S")
    codes = (rows[target][:, None] == class_bytes).argmax(axis=1)
    return TableArrays(X, codes.astype(np.int64), tuple(classes))


def read_candidate_sets(content: bytes) -> TableArrays:
    """Read a MATLAB file: features ``data`` (n × d), candidate sets ``partial_target`` and classes ``target`` (both q × n).

    Examples
    --------
    >>> from scipy.io import savemat
    >>> file = io.BytesIO()
    >>> savemat(file, {"data": np.eye(2), "target": np.eye(2), "partial_target": np.array([[1, 1], [0, 1]])})
    >>> arrays = read_candidate_sets(file.getvalue())
    >>> arrays.y.tolist(), arrays.candidates.astype(int).tolist()
    ([0, 1], [[1, 0], [1, 1]])
    """
    from scipy.io import loadmat  # slow to import, and needed here only

    try:
        arrays = loadmat(io.BytesIO(content))
        X = np.asarray(_dense(arrays["data"]), np.float64)
        candidates, true = (_dense(arrays[name]).T != 0 for name in ("partial_target", "target"))
    except Exception as error:  # SciPy raises errors of many kinds
        raise FileError(
            f"this is not a MATLAB file with data, partial_target and target: {type(error).__name__}: "
            f"{' '.join(str(error).split())}."
        ) from error
    if X.ndim != 2 or not len(X) == len(candidates) == len(true) or candidates.shape != true.shape:
        raise FileError(
            f"data is {X.shape}, partial_target {candidates.T.shape} and target {true.T.shape}; expected n × d, q × n and q × n."
        )
    _check_finite(X)
    if not ((true.sum(axis=1) == 1).all() and candidates.any(axis=1).all()):
        raise FileError(
            "target and partial_target do not hold exactly one class and at least one candidate per example; check the file."
        )
    return TableArrays(X, true.argmax(axis=1), tuple(map(str, range(true.shape[1]))), candidates)


def read_questions(content: bytes) -> TableArrays:
    r"""Read questions, one per line after ``COARSE:fine``; the coarse labels become the classes, in alphabetical order.

    Examples
    --------
    >>> arrays = read_questions(b"NUM:date When was it ?\nDESC:def What is it ?\n")
    >>> arrays.X.tolist(), arrays.y.tolist(), arrays.classes
    (['When was it ?', 'What is it ?'], [1, 0], ('DESC', 'NUM'))
    """
    texts, names = [], []
    lines = content.decode("latin-1").split("\n")  # other line separators occur inside questions
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        label, _, text = line.strip().partition(" ")
        coarse, colon, _ = label.partition(":")
        if not (coarse and colon and text):
            raise FileError(f"line {number} is {line.strip()[:40]!r}; expected 'COARSE:fine question'.")
        names.append(coarse)
        texts.append(text)
    if not texts:
        raise FileError("there are no questions; expected lines such as 'NUM:date When was it ?'.")
    classes, codes = np.unique(names, return_inverse=True)
    return TableArrays(np.array(texts), codes.astype(np.int64), tuple(classes.tolist()))


def read_digit_table() -> TableArrays:
    """Return the 1,797 digits of scikit-learn as rows of 64 numbers.

    Examples
    --------
    >>> read_digit_table().X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits  # slow to import, and needed here only

    X, y = load_digits(return_X_y=True)
    return TableArrays(X, y.astype(np.int64), tuple(map(str, range(10))))


def _check_finite(X: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(X).all():
        raise FileError("the table has missing or infinite values; fill them in, or leave their rows out.")
    return X


def _dense(matrix: Any) -> NDArray[Any]:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
