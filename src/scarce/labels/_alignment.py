"""Labels and features meet by the ids of their examples."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scarce._arrays import IntArray
from scarce._class_names import lookup_codes, names_to_array
from scarce._validation import abbreviate, check_option
from scarce.errors import LabelError

if TYPE_CHECKING:
    from scarce.labels.container import ComplementaryLabels

__all__ = ["Join", "align"]

Join = Literal["exact", "inner", "left"]


def align(labels: "ComplementaryLabels", ids: Any, join: Join) -> tuple["ComplementaryLabels", IntArray]:
    """Bring labels into the order of `ids`; see `ComplementaryLabels.align`."""
    check_option("join", join, ("exact", "inner", "left"))
    if labels.ids is None:
        raise LabelError(
            "the labels have no ids to join by; make them with ids=[...], or give labels and features in one order."
        )
    names = names_to_array(ids, "id of the features")
    wanted, known = names.astype(str), labels.ids.astype(str)
    if len(np.unique(wanted)) < len(wanted):
        values, counts = np.unique(wanted, return_counts=True)
        raise LabelError(
            f"the id {values[np.argmax(counts)]} stands at {counts.max()} feature rows; ids must be distinct."
        )
    place = lookup_codes(wanted, known)
    found = place >= 0
    if not found.any():
        raise LabelError(
            f"no id of the features ({abbreviate(wanted, 3)}) stands in the labels ({abbreviate(known, 3)})."
        )
    if join == "exact":
        _check_same_ids(wanted[~found], np.setdiff1d(known, wanted))
    common = labels[place[found]]
    rows = np.nonzero(found)[0]
    if join != "left" or found.all():
        return common, rows
    lengths = np.zeros(len(wanted), np.int64)
    lengths[rows] = common.per_example
    confirmed = np.full(len(wanted), -1)
    confirmed[rows] = common.confirmed
    answers = common.answers and replace(common.answers, example=rows[common.answers.example])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    everyone = replace(common, indptr=indptr, ids=names, confirmed=confirmed, answers=answers)
    return everyone, np.arange(len(wanted))


def _check_same_ids(unlabeled: Any, unused: Any) -> None:
    parts = []
    if len(unlabeled):
        parts.append(f"{len(unlabeled)} feature rows have no labels ({abbreviate(unlabeled, 3)})")
    if len(unused):
        parts.append(f"{len(unused)} labelled examples have no features ({abbreviate(unused, 3)})")
    if parts:
        raise LabelError(
            f"the ids of features and labels differ: {'; '.join(parts)}. Correct them, or choose join='inner' "
            "(examples with both) or join='left' (features without labels count as unlabelled) (--join)."
        )
