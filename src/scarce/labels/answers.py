"""The table of yes/no answers, and the policies for contradictory answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, IntArray, as_integers, csr_positions, read_only
from scarce._class_names import text_or_empty
from scarce._validation import check_option
from scarce.errors import LabelError

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
    """A table of m answers to the question "does this example belong to this class?", sorted by example.

    All arrays are read-only. Use `from_columns` to sort the rows.

    Attributes
    ----------
    example : array of int of shape (m,)
        The example asked about, as a row of the labels that the answers belong to.
    class_index : array of int32 of shape (m,)
        Index of the class asked about.
    answer : array of int8 of shape (m,)
        1 for yes, 0 for no, −1 for skipped.
    annotator : array of str of shape (m,)
        Who answered; empty if unknown.

    See Also
    --------
    ComplementaryLabels.from_answers : Make labels from answers.

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
        types: dict[str, type[np.integer[Any]]] = {
            "example": np.int64,
            "class_index": np.int32,
            "answer": np.int8,
        }
        columns = {name: as_integers(getattr(self, name), dtype, name) for name, dtype in types.items()}
        for name, column in {**columns, "annotator": self.annotator}.items():
            object.__setattr__(self, name, read_only(column))

    @classmethod
    def from_columns(
        cls, example: Any, class_index: Any, answer: Any, annotator: Iterable[Any] | None = None
    ) -> "Answers":
        """Make a table, sorted by example, from columns.

        Parameters
        ----------
        example : array of int of shape (m,)
            Row of the example asked about.
        class_index : array of int of shape (m,)
            Index of the class asked about.
        answer : array of int of shape (m,)
            1 for yes, 0 for no, −1 for skipped.
        annotator : sequence of length m, optional
            Who answered; by default unknown.

        Returns
        -------
        Answers
            The table.
        """
        rows = as_integers(example, np.int64, "example")
        order = np.argsort(rows, kind="stable")
        annotators = np.full(len(rows), "") if annotator is None else text_or_empty(annotator)
        return cls(
            rows[order],
            as_integers(class_index, np.int32, "class_index")[order],
            as_integers(answer, np.int8, "answer")[order],
            annotators[order],
        )

    def __len__(self) -> int:
        return len(self.example)

    def take(self, rows: IntArray, n_examples: int) -> "Answers":
        """Return the answers about some examples, with the examples renumbered.

        Parameters
        ----------
        rows : array of int of shape (r,)
            The examples, in the new order; repeats are allowed.
        n_examples : int
            Number of examples before the selection.

        Returns
        -------
        Answers
            The answers about example ``rows[i]``, which becomes example i, for i from 0 to r − 1.
        """
        indptr = np.searchsorted(self.example, np.arange(n_examples + 1))
        positions, lengths = csr_positions(indptr, rows)
        return Answers(
            np.repeat(np.arange(len(rows)), lengths),
            self.class_index[positions],
            self.answer[positions],
            self.annotator[positions],
        )

    def counts(self, n_classes: int) -> tuple[IntArray, IntArray]:
        """Count the answers about each class.

        Parameters
        ----------
        n_classes : int
            Number of classes q.

        Returns
        -------
        yes, no : arrays of int of shape (q,)
            The number of "yes" and of "no" for each class.
        """
        yes = np.bincount(self.class_index[self.answer == YES], minlength=n_classes)
        no = np.bincount(self.class_index[self.answer == NO], minlength=n_classes)
        return yes, no


def parse_answers(words: Array) -> NDArray[np.int8]:
    """Return the codes of answers given as text: yes/no/skip, y/n, true/false, 1/0/-1, accept/reject/ignore, or empty.

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
            "expected yes, no or skip (or empty for not asked): correct it."
        )
    return codes


def resolve_conflicts(
    answers: Answers, n_examples: int, names: Array, classes: Array, conflict: Conflict
) -> tuple[IntArray, IntArray, NDArray[np.int32]]:
    """Resolve answers into exclusions and confirmed classes.

    Answers contradict each other if a question is answered both "yes" and "no", or if an example gets "yes" for two classes or
    "no" for every class. The policy ``raise`` raises an error, ``drop`` leaves out the disputed answers, and ``majority`` takes
    the majority vote and leaves out ties. With both, an example that gets "no" for every class keeps no exclusions.

    Parameters
    ----------
    answers : Answers
        The answers.
    n_examples : int
        Number of examples n.
    names : array of shape (n,)
        Names of the examples, for messages.
    classes : array of shape (q,)
        The class names.
    conflict : {"raise", "drop", "majority"}
        The policy.

    Returns
    -------
    rows, columns : arrays of int of shape (e,)
        Example and class of each of the e exclusions.
    confirmed : array of int32 of shape (n,)
        The confirmed class of each example, −1 where unknown.
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
