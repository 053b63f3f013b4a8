"""Align labels with features by the ids of the examples."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from scarce._arrays import IntArray
from scarce._class_names import lookup_codes, names_to_array
from scarce._validation import abbreviate, check_option
from scarce.errors import LabelError

if TYPE_CHECKING:
    from scarce.labels.container import ComplementaryLabels

Join = Literal["exact", "inner", "left"]


def align(labels: "ComplementaryLabels", ids: Any, join: Join) -> tuple["ComplementaryLabels", IntArray]:
    """Align labels with the n feature rows named by `ids`; see `ComplementaryLabels.align`."""
    check_option("join", join, get_args(Join))
    if labels.ids is None:
        raise LabelError(
            "the labels have no ids to join by; make them with ids=[...], or pass labels and features in the same order."
        )
    names = names_to_array(ids, "id of the features")
    feature_ids, label_ids = names.astype(str), labels.ids.astype(str)
    if len(np.unique(feature_ids)) < len(feature_ids):
        values, counts = np.unique(feature_ids, return_counts=True)
        raise LabelError(
            f"the id {values[np.argmax(counts)]} occurs in {counts.max()} feature rows; expected distinct ids: correct them."
        )
    positions = lookup_codes(feature_ids, label_ids)
    found = positions >= 0
    if not found.any():
        raise LabelError(
            f"no id of the features ({abbreviate(feature_ids, 3)}) is in the labels ({abbreviate(label_ids, 3)}); expected ids in "
            "common: pass files of the same examples, or the column that holds the ids (--id-column)."
        )
    if join == "exact":
        _check_same_ids(feature_ids[~found], np.setdiff1d(label_ids, feature_ids))
    joined = labels[positions[found]]
    rows = np.nonzero(found)[0]
    if join != "left" or found.all():
        return joined, rows
    lengths = np.zeros(len(feature_ids), np.int64)
    lengths[rows] = joined.per_example
    confirmed = np.full(len(feature_ids), -1)
    confirmed[rows] = joined.confirmed
    answers = joined.answers and replace(joined.answers, example=rows[joined.answers.example])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    left_joined = replace(joined, indptr=indptr, ids=names, confirmed=confirmed, answers=answers)
    return left_joined, np.arange(len(feature_ids))


def _check_same_ids(unlabeled: Any, unused: Any) -> None:
    problems = []
    if len(unlabeled):
        problems.append(f"{len(unlabeled)} feature rows have no labels ({abbreviate(unlabeled, 3)})")
    if len(unused):
        problems.append(f"{len(unused)} label rows have no features ({abbreviate(unused, 3)})")
    if problems:
        raise LabelError(
            f"the ids of features and labels differ: {'; '.join(problems)}. Correct them, or pass join='inner' to keep the "
            "examples that have both or join='left' to keep feature rows without labels (--join)."
        )
