"""Read true classes from files, for evaluation; training on complementary labels does not need them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._io.arrays import read_array
from scarce._io.idx import is_idx_name, read_idx
from scarce._io.paths import check_file, prefix_errors
from scarce._io.tables import as_names, read_table
from scarce.errors import FileError, LabelError
from scarce.features._tables import find_id_column

_MAX_EXACT_INTEGER = 2.0**53  # float64 represents all integers up to this one


def read_truth(path: str | Path, id_column: str | None = None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    r"""Read the true class of every example, and the ids of the examples if the file has them.

    Parameters
    ----------
    path : path
        ``.npy`` with one class per example; an idx file; or ``.csv`` or ``.parquet`` with a column ``label`` or ``class``, or with
        a single column besides the ids.
    id_column : str, optional
        The column with the ids; by default ``example_id`` or ``id``, if there is one.

    Returns
    -------
    labels : array of int or str of shape (n,)
        The true class of each example.
    ids : array of shape (n,) or None
        The ids of the examples.

    Raises
    ------
    FileError
        If the file is missing, damaged, or of an unknown type.
    LabelError
        If the file does not contain one class per example.

    See Also
    --------
    read_features : Read features.
    scarce.simulate.simulate : Draw complementary labels from true classes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "truth.csv").write_text("example_id,label\np1,cat\np2,dog\n")
    ...     truth, ids = read_truth(Path(folder, "truth.csv"))
    >>> truth.tolist(), ids.tolist()
    (['cat', 'dog'], ['p1', 'p2'])
    """
    path = check_file(path)
    with prefix_errors(path):
        if path.suffix.lower() in (".csv", ".parquet"):
            return _read_table_truth(path, id_column)
        if id_column is not None:
            raise LabelError(f"id_column={id_column!r} is for tables; leave it out for {path.name}.")
        if is_idx_name(path):
            return _check_one_per_example(read_idx(path)), None
        if path.suffix.lower() == ".npy":
            return _check_one_per_example(read_array(path)), None
    raise FileError(
        f"{path} ends in {path.suffix or 'nothing'!r}; true labels are read from .npy, .csv, .parquet and idx files: convert it."
    )


def _check_one_per_example(labels: NDArray[Any]) -> NDArray[Any]:
    if labels.ndim != 1 or len(labels) == 0:
        raise LabelError(
            f"the true labels have shape {labels.shape}; expected one class per example: use argmax(1) for one-hot rows."
        )
    if labels.dtype.kind == "f":
        labels = labels.astype(np.float64)
        is_whole = (np.floor(labels) == labels) & (np.abs(labels) < _MAX_EXACT_INTEGER)
        if not is_whole.all():
            row = int(np.argmin(is_whole))
            raise LabelError(
                f"row {row}: the true label is {labels[row]}; expected a whole number or a name: correct it."
            )
        return labels.astype(np.int64)
    return labels


def _read_table_truth(path: Path, id_column: str | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    table = read_table(path)
    ids_name = find_id_column(table.header, id_column)
    candidates = [name for name in table.header if name != ids_name]
    label_columns = [name for name in ("label", "class") if name in candidates] or candidates
    if len(label_columns) != 1:
        raise LabelError(
            f"the columns besides the ids are {', '.join(label_columns) or 'none'}; expected one with the true classes: "
            "name it label."
        )
    lines = []
    columns: dict[str, list[str]] = {name: [] for name in table.header}
    for line, row in table.rows:
        lines.append(line)
        for name, cell in zip(table.header, row, strict=True):
            columns[name].append(cell)
    labels = columns[label_columns[0]]
    if "" in labels:
        raise LabelError(
            f"line {lines[labels.index('')]}, column {label_columns[0]}: the true label is missing; fill it in, or leave "
            "the row out."
        )
    ids = None if ids_name is None else as_names(columns[ids_name], "id")
    return _check_one_per_example(as_names(labels)), ids
