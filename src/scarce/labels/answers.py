"""The long table of yes/no answers, and what a policy makes of answers that disagree."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, IntArray, csr_positions, read_only
from scarce._class_names import text_or_empty
from scarce._validation import check_option
from scarce.errors import LabelError

__all__ = ["NO", "NOT_ASKED", "SKIP", "YES", "Answers", "Conflict", "parse_answers", "resolve_conflicts"]

YES, NO, SKIP, NOT_ASKED = 1, 0, -1, -2
_UNKNOWN = 99
_ANSWER_CODES = {
    "yes": YES, "y": YES, "true": YES, "1": YES, "1.0": YES, "accept": YES,
    "no": NO, "n": NO, "false": NO, "0": NO, "0.0": NO, "reject": NO,
    "skip": SKIP, "ignore": SKIP, "-1": SKIP, "-1.0": SKIP,
    "": NOT_ASKED, "nan": NOT_ASKED, "none": NOT_ASKED, "<na>": NOT_ASKED,
}  # fmt: skip

Conflict = Literal["raise", "drop", "majority"]


@dataclass(frozen=True, eq=False)
class Answers:
    """One row per question asked: "is this example of this class?" and what was said.

    Rows are kept in the order of their examples.

    Attributes
    ----------
    example : array of int
        Row of the example in the labels the answers belong to.
    class_index : array of int
        Index of the class that was asked about.
    answer : array of int8
        1 yes, 0 no, −1 skipped.
    annotator : array of str
        Who answered; empty where unknown.

    All of them are read-only.

    Examples
    --------
    >>> table = Answers.from_columns([1, 0, 0], [0, 2, 1], [1, 0, 0])
    >>> table.example.tolist(), table.answer.tolist()
    ([0, 0, 1], [0, 0, 1])
    """

    example: IntArray
    class_index: IntArray
    answer: NDArray[np.int8]
    annotator: Array

    def __post_init__(self) -> None:
        for column in fields(self):
            object.__setattr__(self, column.name, read_only(getattr(self, column.name)))

    @classmethod
    def from_columns(
        cls, example: Any, class_index: Any, answer: Any, annotator: Iterable[Any] | None = None
    ) -> "Answers":
        """Build the table from columns of equal length, sorted by example."""
        rows = np.asarray(example, np.int64)
        order = np.argsort(rows, kind="stable")
        annotators = np.full(len(rows), "") if annotator is None else text_or_empty(annotator)
        return cls(
            rows[order],
            np.asarray(class_index, np.int32)[order],
            np.asarray(answer, np.int8)[order],
            annotators[order],
        )

    def __len__(self) -> int:
        return len(self.example)

    def take(self, rows: IntArray, n_examples: int) -> "Answers":
        """Return the answers about the examples `rows`, renumbered in that order."""
        indptr = np.searchsorted(self.example, np.arange(n_examples + 1))
        positions, lengths = csr_positions(indptr, rows)
        return Answers(
            np.repeat(np.arange(len(rows)), lengths),
            self.class_index[positions],
            self.answer[positions],
            self.annotator[positions],
        )

    def counts(self, n_classes: int) -> tuple[IntArray, IntArray]:
        """Return how often each class got "yes" and how often "no"."""
        yes = np.bincount(self.class_index[self.answer == YES], minlength=n_classes)
        no = np.bincount(self.class_index[self.answer == NO], minlength=n_classes)
        return yes, no


def parse_answers(words: Array) -> NDArray[np.int8]:
    """Read answers written as words or numbers: yes/no/skip, y/n, true/false, 1/0, accept/reject/ignore.

    Examples
    --------
    >>> parse_answers(np.array(["yes", "No", "skip", ""])).tolist()
    [1, 0, -1, -2]
    """
    texts, inverse = np.unique(np.char.lower(np.char.strip(words.astype(str))), return_inverse=True)
    codes = np.array([_ANSWER_CODES.get(str(text), _UNKNOWN) for text in texts], np.int8)[
        inverse.reshape(words.shape)
    ]
    if (codes == _UNKNOWN).any():
        position = tuple(np.argwhere(codes == _UNKNOWN)[0].tolist())
        column = f", column {position[1]}" if len(position) > 1 else ""
        raise LabelError(
            f"row {position[0]}{column}: the answer {str(words[position])!r} is not understood; "
            "expected yes, no or skip (or empty for not asked)."
        )
    return codes


def resolve_conflicts(
    answers: Answers, n_examples: int, names: Array, classes: Array, conflict: Conflict
) -> tuple[IntArray, IntArray, NDArray[np.int32]]:
    """Decide what the answers establish: exclusions as (row, class) pairs, and confirmed classes.

    Three things can disagree: "yes" and "no" to one question, "yes" to two classes of one example, and
    "no" to every class. `raise` is an error, `drop` leaves the disputed claims out, `majority` follows the
    larger number of votes and leaves ties out; "no" to every class is then left out as a whole.

    Returns
    -------
    rows, columns : arrays of int
        The exclusions.
    confirmed : array of int32
        The class of each example, −1 where unknown.
    """
    check_option("conflict", conflict, get_args(Conflict))
    n_classes = len(classes)
    pair, inverse = np.unique(answers.example * n_classes + answers.class_index, return_inverse=True)
    yes = np.bincount(inverse[answers.answer == YES], minlength=len(pair))
    no = np.bincount(inverse[answers.answer == NO], minlength=len(pair))
    row, column = pair // n_classes, (pair % n_classes).astype(np.int32)

    is_disputed = (yes > 0) & (no > 0)
    if conflict == "raise" and is_disputed.any():
        first = int(np.argmax(is_disputed))
        raise LabelError(
            f"example {names[row[first]]}: both 'yes' and 'no' to class {classes[column[first]]}; "
            "pass conflict='drop' or conflict='majority' (--conflict) to resolve such answers."
        )
    if conflict == "drop":
        is_excluded, is_confirmed = (no > 0) & ~is_disputed, (yes > 0) & ~is_disputed
    else:
        is_excluded, is_confirmed = no > yes, yes > no

    votes = np.where(is_confirmed, yes, 0)
    max_votes = np.zeros(n_examples, np.int64)
    np.maximum.at(max_votes, row, votes)
    if conflict == "majority":
        is_confirmed &= votes == max_votes[row]
    n_confirmed = np.bincount(row[is_confirmed], minlength=n_examples)
    if conflict == "raise" and (n_confirmed > 1).any():
        example = int(np.argmax(n_confirmed > 1))
        both = classes[column[is_confirmed & (row == example)]]
        raise LabelError(
            f"example {names[example]}: 'yes' to both {both[0]} and {both[1]}, but an example has one class; "
            "correct it, or pass conflict='drop' or conflict='majority' (--conflict)."
        )
    is_confirmed &= n_confirmed[row] == 1
    confirmed = np.full(n_examples, -1, np.int32)
    confirmed[row[is_confirmed]] = column[is_confirmed]

    excludes_all = np.bincount(row[is_excluded], minlength=n_examples) == n_classes
    if conflict == "raise" and excludes_all.any():
        raise LabelError(
            f"example {names[np.argmax(excludes_all)]}: 'no' to every class, but it must be one of them; correct it, "
            "add the missing class to classes, or pass conflict='drop' or conflict='majority' (--conflict)."
        )
    is_excluded &= ~excludes_all[row]
    return row[is_excluded], column[is_excluded], confirmed
