"""Write labels as a readable CSV file: a matrix of yes and no, or the table of answers."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np

from scarce._arrays import Array, csr_from_pairs
from scarce.errors import LabelError
from scarce.labels.answers import NO, SKIP, YES, Answers, Conflict, resolve_conflicts
from scarce.labels.container import ComplementaryLabels

LONG_HEADER = ["example_id", "class_name", "answer", "annotator"]
_ANSWER_WORDS = {YES: "yes", NO: "no", SKIP: "skip"}


def write_csv(labels: ComplementaryLabels, path: Path) -> None:
    """Write labels to `path`: as a table of answers if they have answers, else as a matrix of yes and no.

    Labels without ids get the row numbers as ids.
    """
    ids = np.arange(labels.n_examples) if labels.ids is None else labels.ids
    if labels.answers is None:
        header, rows = ["example_id", *map(str, labels.classes.tolist())], _wide_rows(labels, ids)
        if "example_id" in header[1:] or "excluded" in header or {"class_name", "answer"} <= set(header):
            raise LabelError(
                "class names such as example_id, excluded, class_name or answer make a CSV file ambiguous; save as .npz."
            )
    else:
        header, rows = LONG_HEADER, _long_rows(labels, labels.answers, ids)
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
    except UnicodeEncodeError as error:
        raise LabelError(f"a name cannot be written as UTF-8 ({error.reason}); save as .npz.") from error


def _wide_rows(labels: ComplementaryLabels, ids: Array) -> Iterator[list[str]]:
    for row in range(labels.n_examples):
        cells = [str(ids[row]), *[""] * labels.n_classes]
        for column in labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist():
            cells[1 + column] = "no"
        if labels.confirmed[row] >= 0:
            cells[1 + labels.confirmed[row]] = "yes"
        yield cells


def _long_rows(labels: ComplementaryLabels, answers: Answers, ids: Array) -> Iterator[list[str]]:
    if not any(_is_resolution(labels, answers, policy) for policy in get_args(Conflict)):
        raise LabelError(
            "the labels are not what their answers imply, and a CSV file stores only the answers; save as .npz."
        )
    classes = list(map(str, labels.classes.tolist()))
    ends = np.searchsorted(answers.example, np.arange(labels.n_examples), side="right").tolist()
    start = 0
    for row, end in enumerate(ends):
        name = str(ids[row])
        for position in range(start, end):
            word = _ANSWER_WORDS[int(answers.answer[position])]
            yield [name, classes[answers.class_index[position]], word, str(answers.annotator[position])]
        if start == end:  # an empty answer keeps an example without questions
            yield [name, classes[0], "", ""]
        start = end
    for column in sorted(set(range(len(classes))) - set(answers.class_index.tolist())):
        yield [str(ids[0]), classes[column], "", ""]


def _is_resolution(labels: ComplementaryLabels, answers: Answers, policy: Conflict) -> bool:
    names = np.arange(labels.n_examples)
    try:
        rows, columns, confirmed = resolve_conflicts(
            answers, labels.n_examples, names, labels.classes, policy
        )
    except LabelError:
        return False
    indptr, indices = csr_from_pairs(rows, columns, labels.shape)
    return all(
        np.array_equal(expected, actual)
        for expected, actual in (
            (indptr, labels.indptr),
            (indices, labels.indices),
            (confirmed, labels.confirmed),
        )
    )
