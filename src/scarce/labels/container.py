"""`ComplementaryLabels`: for every example, the classes that it does not belong to."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, IntArray, as_integers, csr_from_pairs, csr_positions, read_only, row_indices
from scarce._class_names import names_to_array
from scarce.errors import LabelError
from scarce.labels import _converters as convert
from scarce.labels._alignment import Join, align
from scarce.labels._exclusions import Exclusions
from scarce.labels._validation import check_consistent
from scarce.labels.answers import Answers, Conflict, resolve_conflicts
from scarce.labels.summary import LabelSummary, summarize


@dataclass(frozen=True, eq=False, repr=False)
class ComplementaryLabels(Exclusions):
    """The classes that each of n examples does not belong to: ``indicator()[i, k]`` means that example i is not of class k.

    Labels are immutable and stored as compressed sparse rows, so memory grows with the number of exclusions and not with n × q.
    Make them with the converter for your data: `from_indicator`, `from_lists`, `from_single`, `from_columns`, `from_candidates`,
    `from_answer_matrix`, `from_answers` or `from_ordinary`; or read a file with `scarce.read_labels`.

    Attributes
    ----------
    indptr : array of int64 of shape (n + 1,)
        The excluded classes of example i are ``indices[indptr[i]:indptr[i + 1]]``.
    indices : array of int32 of shape (n_exclusions,)
        Indices of excluded classes, sorted and distinct within each example.
    classes : array of shape (q,)
        The class names.
    ids : array of shape (n,) or None
        Distinct names of the examples.
    confirmed : array of int32 of shape (n,)
        Index of the class that an example is known to belong to (from a "yes"), −1 where unknown.
    answers : Answers or None
        The table of answers from which the labels were made, if any.

    See Also
    --------
    scarce.read_labels, scarce.labels.write_labels : Read and write label files.
    scarce.simulate.simulate : Draw labels from true classes.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["dog", "cow"], []], classes=["cat", "cow", "dog"])
    >>> labels
    ComplementaryLabels(n_examples=3, n_classes=3, n_exclusions=3)
    >>> labels.indicator(dtype=int).tolist()
    [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    """

    ids: Array | None = None
    confirmed: NDArray[np.int32] = None  # type: ignore[assignment]
    answers: Answers | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # A broadcast view takes no memory if no class is confirmed.
        confirmed = (
            np.broadcast_to(np.int32(-1), self.n_examples) if self.confirmed is None else self.confirmed
        )
        ids = None if self.ids is None else read_only(names_to_array(self.ids, "id"))
        object.__setattr__(self, "confirmed", read_only(as_integers(confirmed, np.int32, "confirmed")))
        object.__setattr__(self, "ids", ids)
        check_consistent(self)

    @classmethod
    def from_indicator(cls, matrix: Any, classes: Iterable[Any] | None = None, *, ids: Any = None) -> Self:
        """Convert a matrix in which 1 means "not this class".

        Parameters
        ----------
        matrix : array, DataFrame or sparse matrix of shape (n, q)
            1 where the example is not of the class, else 0.
        classes : sequence of length q, optional
            Class names; by default 0 to q − 1.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_indicator([[0, 1, 1], [1, 0, 0]]).per_example.tolist()
        [2, 1]
        """
        return cls(*convert.from_indicator(matrix, classes), ids)

    @classmethod
    def from_ordinary(cls, y: Any, classes: Any = None, *, ids: Any = None) -> Self:
        """Convert true classes: every example excludes all classes but its own.

        With the class frequencies as priors, the SCARCE risk of such labels equals the one-versus-rest risk.

        Parameters
        ----------
        y : sequence of length n
            The true class of each example.
        classes : int or sequence of length q, optional
            All class names, in order; by default the sorted values of `y`.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_ordinary(["dog", "cat", "cow"]).indicator(dtype=int).tolist()
        [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
        """
        return cls(*convert.from_ordinary(y, classes), ids)

    @classmethod
    def from_candidates(cls, matrix: Any, classes: Iterable[Any] | None = None, *, ids: Any = None) -> Self:
        """Convert a matrix in which 1 means "still possible", as in partial-label data sets.

        Parameters
        ----------
        matrix : array, DataFrame or sparse matrix of shape (n, q)
            1 where the class is a candidate, 0 where it is excluded.
        classes : sequence of length q, optional
            Class names; by default 0 to q − 1.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_candidates([[1, 0, 1], [0, 1, 1]]).indices.tolist()
        [1, 0]
        """
        return cls(*convert.from_candidates(matrix, classes), ids)

    @classmethod
    def from_lists(
        cls, rows: Iterable[Collection[Any]], classes: int | Iterable[Any], *, ids: Any = None
    ) -> Self:
        """Convert one list or set of excluded class names per example.

        Parameters
        ----------
        rows : sequence of length n
            The excluded class names of each example; an empty list excludes no class.
        classes : int or sequence of length q
            All class names, in order, including those that no example excludes; an integer q means 0 to q − 1.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_lists([{"a", "b"}, []], classes=["a", "b", "c"]).per_example.tolist()
        [2, 0]
        """
        return cls(*convert.from_lists(rows, classes), ids)

    @classmethod
    def from_single(cls, excluded: Any, classes: int | Iterable[Any], *, ids: Any = None) -> Self:
        """Convert exactly one excluded class per example: a class that the example does *not* belong to.

        Parameters
        ----------
        excluded : sequence of length n
            The excluded class of each example.
        classes : int or sequence of length q
            All class names, in order, including those that no example excludes; an integer q means 0 to q − 1.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_single([2, 0], classes=3).indicator(dtype=int).tolist()
        [[0, 0, 1], [1, 0, 0]]
        """
        return cls(*convert.from_single(excluded, classes), ids)

    @classmethod
    def from_columns(
        cls, table: Any, classes: int | Iterable[Any], *, missing: Any = -1, ids: Any = None
    ) -> Self:
        """Convert a table with up to m excluded classes per example.

        Parameters
        ----------
        table : array or DataFrame of shape (n, m)
            The excluded classes of each example; repeats are allowed.
        classes : int or sequence of length q
            All class names, in order, including those that no example excludes; an integer q means 0 to q − 1.
        missing : object
            The value that marks an empty cell, like NaN and None.
        ids : sequence of length n, optional
            Distinct names of the examples.

        Examples
        --------
        >>> ComplementaryLabels.from_columns([[2, 2, 0], [1, -1, -1]], classes=3).per_example.tolist()
        [2, 1]
        """
        return cls(*convert.from_columns(table, classes, missing), ids)

    @classmethod
    def from_answer_matrix(
        cls,
        matrix: Any,
        classes: Iterable[Any] | None = None,
        *,
        ids: Any = None,
        conflict: Conflict = "raise",
    ) -> Self:
        """Convert a matrix of answers to "is it this class?". "No" excludes the class, "yes" confirms it.

        Parameters
        ----------
        matrix : array or DataFrame of shape (n, q)
            1 or yes, 0 or no, −1 or skip; NaN, None or an empty cell if the question was not asked.
        classes : sequence of length q, optional
            Class names; by default 0 to q − 1.
        ids : sequence of length n, optional
            Distinct names of the examples.
        conflict : {"raise", "drop", "majority"}
            What to do with contradictory answers: raise an error, leave out the disputed answers, or follow the majority.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_answer_matrix([[0, 0, float("nan")], [float("nan"), 1, 0]])
        >>> labels.indicator(dtype=int).tolist(), labels.confirmed.tolist()
        ([[1, 1, 0], [0, 0, 1]], [-1, 1])
        """
        answers, n, names = convert.answers_from_matrix(matrix, classes)
        return cls._from_resolved(answers, n, names, ids, conflict)

    @classmethod
    def from_answers(
        cls,
        table: Any,
        classes: int | Iterable[Any] | None = None,
        *,
        ids: Any = None,
        conflict: Conflict = "raise",
    ) -> Self:
        """Convert a table of answers to "is it this class?", one row per question.

        "No" excludes the class and "yes" confirms it. "Skip" is kept in `answers` but has no effect; an empty answer means that the
        question was not asked.

        Parameters
        ----------
        table : DataFrame or mapping of columns
            Columns ``example_id``, ``class_name``, ``answer`` and, optionally, ``annotator``.
        classes : int or sequence of length q, optional
            All class names, in order; by default the classes in the table, sorted.
        ids : sequence of length n, optional
            All examples, in order; by default the examples in the table, in order of first appearance.
        conflict : {"raise", "drop", "majority"}
            What to do with contradictory answers: raise an error, leave out the disputed answers, or follow the majority.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_answers({
        ...     "example_id": ["p1", "p1", "p2"], "class_name": ["cat", "dog", "cat"], "answer": ["no", "yes", "skip"]})
        >>> labels.indicator(dtype=int).tolist(), labels.confirmed.tolist()
        ([[1, 0], [0, 0]], [1, -1])
        """
        answers, ids, names = convert.answers_from_table(table, classes, ids)
        return cls._from_resolved(answers, len(ids), names, ids, conflict)

    @classmethod
    def _from_resolved(
        cls, table: Answers, n: int, classes: Array, ids: Any = None, conflict: Conflict = "raise"
    ) -> Self:
        """Make labels of n examples from a table of answers, resolved under a conflict policy."""
        names = np.arange(n) if ids is None else names_to_array(ids, "id")
        if len(names) != n:
            raise LabelError(f"ids has {len(names)} values for {n} examples; pass one id per example.")
        rows, columns, confirmed = resolve_conflicts(table, n, names, classes, conflict)
        return cls(*csr_from_pairs(rows, columns, (n, len(classes))), classes, ids, confirmed, table)

    def summary(self) -> LabelSummary:
        """Count the exclusions per class and per example; printing the result shows a table."""
        return summarize(self)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the labels to a file, which `scarce.read_labels` reads.

        Parameters
        ----------
        path : path
            The file to write: ``.npz`` (compact and complete) or ``.csv`` (readable).
        force : bool
            Whether to overwrite an existing file.
        """
        from scarce.labels.io import write_labels

        write_labels(self, Path(path), force=force)

    def align(self, ids: Any, join: Join = "exact") -> tuple["ComplementaryLabels", IntArray]:
        """Return the labels in the order of the feature rows, matched by id.

        Parameters
        ----------
        ids : sequence of length m
            The ids of the feature rows. Ids are compared as text: 7 and "7" are the same.
        join : {"exact", "inner", "left"}
            ``exact`` requires the same ids in labels and features; ``inner`` keeps the examples that have both; ``left`` keeps all
            feature rows, and those without labels exclude no class.

        Returns
        -------
        labels : ComplementaryLabels
            One row per feature row that is kept.
        rows : array of int
            The feature rows that are kept.

        Examples
        --------
        >>> labels = ComplementaryLabels.from_single([2, 0], classes=3, ids=["a", "b"])
        >>> aligned, rows = labels.align(["b", "x", "a"], join="inner")
        >>> aligned.ids.tolist(), rows.tolist()
        (['b', 'a'], [0, 2])
        """
        return align(self, ids, join)

    def name_of(self, row: int) -> str:
        """Return the row number of an example, and its id if it has one, as text for a message."""
        return f"row {row}" if self.ids is None else f"row {row} (id {self.ids[row]})"

    def __getitem__(self, rows: Any) -> "ComplementaryLabels":
        if isinstance(rows, tuple):  # scikit-learn indexes arrays as [rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise IndexError("labels are indexed by rows only; for single cells use labels.indicator().")
            rows = rows[0]
        chosen = row_indices(rows, self.n_examples)
        if not chosen.size:
            raise LabelError("the labels have no rows; expected at least one example.")
        distinct = len(np.unique(chosen)) == len(chosen)  # repeated rows would share an id
        positions, lengths = csr_positions(self.indptr, chosen)
        columns = {
            "indptr": np.concatenate([[0], np.cumsum(lengths)]),
            "indices": self.indices[positions],
            "ids": self.ids[chosen] if self.ids is not None and distinct else None,
            "confirmed": self.confirmed[chosen],
        }
        for column in columns.values():
            if column is not None:
                column.flags.writeable = False
        answers = None if self.answers is None else self.answers.take(chosen, self.n_examples)
        sliced = object.__new__(ComplementaryLabels)  # rows of consistent labels are not checked again
        vars(sliced).update(columns, classes=self.classes, answers=answers)
        return sliced

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComplementaryLabels):
            return NotImplemented
        one, two = self.answers, other.answers
        return _equal_columns(self, other, ("indptr", "indices", "classes", "ids", "confirmed")) and (
            one is two is None
            or (
                (one is not None and two is not None)
                and _equal_columns(one, two, ("example", "class_index", "answer", "annotator"))
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ComplementaryLabels(n_examples={self.n_examples}, n_classes={self.n_classes}, n_exclusions={len(self.indices)})"


def _equal_columns(one: object, other: object, names: tuple[str, ...]) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
