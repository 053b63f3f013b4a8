"""Read and write label files. The suffix gives the file type; the header or `form` says how to read the content."""

from pathlib import Path
from typing import Any, get_args

from scarce._io.arrays import read_array
from scarce._io.atomic import atomic_write
from scarce._io.paths import check_file, prefix_errors
from scarce._io.tables import read_table
from scarce._validation import check_option
from scarce.errors import FileError, LabelError
from scarce.labels.answers import Conflict
from scarce.labels.container import ComplementaryLabels
from scarce.labels.io._csv import write_csv
from scarce.labels.io._npz import read_npz, write_npz
from scarce.labels.io._table_forms import ARRAY_FORMS, TABLE_FORMS, from_array, from_table, with_classes
from scarce.labels.io.label_studio import read_label_studio
from scarce.labels.io.prodigy import read_prodigy

__all__ = ["read_labels", "with_classes", "write_labels"]

_JSON_FORMS = ("label-studio-excluded", "label-studio-answer", "prodigy")
_WRITERS = {".csv": write_csv, ".npz": write_npz}


def read_labels(
    path: str | Path, *, form: str | None = None, classes: Any = None, conflict: Conflict = "raise"
) -> ComplementaryLabels:
    r"""Read complementary labels from a file.

    Parameters
    ----------
    path : path
        ``.npz`` as written by `ComplementaryLabels.save`; ``.csv`` or ``.parquet`` with a header; ``.npy``; or an export of an
        annotation tool as ``.json`` or ``.jsonl``.
    form : str, optional
        How to read the file. Not needed if the header shows it: a table of answers (columns ``example_id``, ``class_name``,
        ``answer`` and optionally ``annotator``), lists (columns ``example_id`` and ``excluded``, with class names separated by
        ``;``), or a matrix of yes, no and empty cells with one column per class. Otherwise required, because the same numbers
        can have opposite meanings; leave it out for ``.npz``.

        - ``"answers"``: one row per question;
        - ``"answer-matrix"``: yes or 1, no or 0, skip or −1, or empty, with one column per class;
        - ``"lists"``: a list of excluded classes per example;
        - ``"indicator"``: 1 means "not this class";
        - ``"candidates"``: 1 means "still possible";
        - ``"single"``: one excluded class per example;
        - ``"columns"``: several columns of excluded classes;
        - ``"label-studio-excluded"``, ``"label-studio-answer"``: exports of Label Studio, see `read_label_studio`;
        - ``"prodigy"``: an export of Prodigy, see `read_prodigy`.
    classes : int or sequence of length q, optional
        All class names, in order; required if the file does not name them.
    conflict : {"raise", "drop", "majority"}
        What to do with contradictory answers: raise an error, leave out the disputed answers, or follow the majority.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples in the file.

    Raises
    ------
    FileError
        If the file is missing, damaged, or of an unknown type.
    LabelError
        If the content of the file does not match `form`, or the labels contradict each other.

    See Also
    --------
    write_labels : Write labels to a file.
    scarce.features.read_features : Read features.

    Notes
    -----
    Class names and ids become integers if all of them are whole numbers; otherwise they stay text. Without a column
    ``example_id`` the labels have no ids and must be in the order of the features. Error
    messages count the lines of the file from 1, and the rows below the header from 0.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     _ = path.write_text("example_id,cat,cow,dog\np1,no,,no\np2,,yes,\n")
    ...     labels = read_labels(path)
    >>> labels.indicator(dtype=int).tolist(), labels.confirmed.tolist(), labels.ids.tolist()
    ([[1, 0, 1], [0, 0, 0]], [-1, 1], ['p1', 'p2'])
    """
    path = check_file(path)
    if form is not None:
        check_option("form", form, (*TABLE_FORMS, *_JSON_FORMS))
    check_option("conflict", conflict, get_args(Conflict))
    if form == "prodigy":
        return read_prodigy(path, classes=classes, conflict=conflict)
    if form == "label-studio-excluded":
        return read_label_studio(path, meaning="excluded", classes=classes, conflict=conflict)
    if form == "label-studio-answer":
        return read_label_studio(path, meaning="answer", classes=classes, conflict=conflict)
    with prefix_errors(path):
        return _read(path, form, classes, conflict)


def _read(path: Path, form: str | None, classes: Any, conflict: Conflict) -> ComplementaryLabels:
    kind = path.suffix.lower()
    if kind in (".csv", ".parquet"):
        return from_table(read_table(path), form, classes, conflict)
    if kind == ".npz":
        if form is not None:
            raise LabelError(f"an .npz file written by scarce states its own form; leave out form={form!r}.")
        return with_classes(read_npz(path), classes)
    if kind == ".npy":
        if form not in ARRAY_FORMS:
            raise LabelError(
                f"an array does not state its form (got form={form!r}); pass form= (--form), one of {', '.join(ARRAY_FORMS)}."
            )
        return from_array(read_array(path), form, classes, conflict)
    if kind in (".json", ".jsonl"):
        raise LabelError(
            f"a {kind} file does not state which tool wrote it; pass form= (--form), one of {', '.join(_JSON_FORMS)}."
        )
    raise FileError(
        f"{path} ends in {kind or 'nothing'!r}; labels are read from .csv, .npz, .npy, .parquet, .json and .jsonl: "
        "convert it."
    )


def write_labels(labels: ComplementaryLabels, path: str | Path, *, force: bool = False) -> None:
    """Write labels as ``.csv`` (readable) or ``.npz`` (compact and complete).

    A CSV file contains a matrix of yes, no and empty cells or, for labels with answers, the table of answers.

    Parameters
    ----------
    labels : ComplementaryLabels
        The labels.
    path : path
        The file to write, which ends in ``.csv`` or ``.npz``; missing folders are created.
    force : bool
        Whether to overwrite an existing file.

    Raises
    ------
    FileError
        If the file exists, cannot be written, or has another suffix.
    LabelError
        If a CSV file cannot represent the labels.

    See Also
    --------
    read_labels : Read labels from a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> labels = ComplementaryLabels.from_single(["dog", "cat"], classes=["cat", "cow", "dog"], ids=["a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     write_labels(labels, Path(folder, "labels.csv"))
    ...     print(Path(folder, "labels.csv").read_text())
    example_id,cat,cow,dog
    a,,,no
    b,no,,
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise FileError(
            f"{path} ends in {path.suffix or 'nothing'!r}; labels are written to .csv or .npz: change the suffix."
        )
    with atomic_write(path, force=force) as temporary, prefix_errors(path):
        write(labels, temporary)
