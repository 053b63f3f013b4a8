"""Consistency checks of all labels, whichever converter made them; an error names the row and the fix."""

from typing import TYPE_CHECKING

import numpy as np

from scarce.errors import LabelError

if TYPE_CHECKING:
    from scarce.labels.container import ComplementaryLabels


def check_consistent(labels: "ComplementaryLabels") -> None:
    """Raise a `LabelError` if the columns of labels do not fit together, or if the labels contradict each other."""
    _check_columns(labels)
    _check_answers(labels)
    q = labels.n_classes
    excludes_all = labels.per_example >= q
    if excludes_all.any():
        raise LabelError(
            f"{labels.name_of(int(np.argmax(excludes_all)))} excludes every class, but it must be one of them; "
            "remove a wrong exclusion, or add the missing class to classes."
        )
    clash = labels.indices == np.repeat(labels.confirmed, labels.per_example)
    if clash.any():
        row = int(np.searchsorted(labels.indptr, np.argmax(clash), side="right")) - 1
        raise LabelError(
            f"{labels.name_of(row)} is confirmed as {labels.classes[labels.confirmed[row]]} and excludes it too; "
            "keep one of the two."
        )


def _check_columns(labels: "ComplementaryLabels") -> None:
    n, q = labels.shape
    for name, column in (("ids", labels.ids), ("confirmed", labels.confirmed)):
        if column is not None and column.shape != (n,):
            raise LabelError(
                f"{name} has shape {column.shape}, but there are {n} examples; pass one value per example."
            )
    if labels.ids is not None and len(np.unique(labels.ids)) < n:
        values, counts = np.unique(labels.ids, return_counts=True)
        first, second = np.nonzero(labels.ids == values[np.argmax(counts)])[0][:2]
        raise LabelError(
            f"the id {labels.ids[first]} occurs {counts.max()} times, in rows {first} and {second} for example; expected distinct "
            "ids: correct or leave out one of them."
        )
    if labels.confirmed.min() < -1 or labels.confirmed.max() >= q:
        raise LabelError(
            f"confirmed ranges from {labels.confirmed.min()} to {labels.confirmed.max()}; expected class indices from -1 (unknown) "
            f"to {q - 1}: correct them."
        )


def _check_answers(labels: "ComplementaryLabels") -> None:
    table = labels.answers
    if table is None or len(table) == 0:
        return
    columns = {
        "example": (table.example, 0, labels.n_examples - 1),
        "class_index": (table.class_index, 0, labels.n_classes - 1),
        "answer": (table.answer, -1, 1),
    }
    for name, (column, low, high) in columns.items():
        if column.shape != table.annotator.shape or column.min() < low or column.max() > high:
            raise LabelError(
                f"the column {name!r} of the answers differs in length from the others or has values outside {low} to {high}; "
                "make the answers with Answers.from_columns."
            )
    if (np.diff(table.example) < 0).any():
        raise LabelError(
            "the answers are not sorted by example, as expected; make them with Answers.from_columns."
        )
