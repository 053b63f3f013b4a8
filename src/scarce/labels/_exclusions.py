"""Exclusions as compressed sparse rows: an immutable n × q boolean matrix with named columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from scarce._arrays import Array, IntArray, as_integers, csr_positions, read_only, row_indices
from scarce._class_names import check_classes
from scarce.errors import LabelError


@dataclass(frozen=True, eq=False, repr=False)
class Exclusions:
    """A boolean matrix of shape (n, q): entry [i, k] means that example i is not of class k.

    `ComplementaryLabels` adds what else is known about the examples: ids, confirmed classes and answers.

    Attributes
    ----------
    indptr : array of int64 of shape (n + 1,)
        The excluded classes of example i are ``indices[indptr[i]:indptr[i + 1]]``.
    indices : array of int32 of shape (n_exclusions,)
        Indices of excluded classes, sorted and distinct within each example.
    classes : array of shape (q,)
        The class names.
    """

    indptr: IntArray
    indices: IntArray
    classes: Array

    def __post_init__(self) -> None:
        columns: dict[str, Array] = {
            "indptr": as_integers(self.indptr, np.int64, "indptr"),
            "indices": as_integers(self.indices, np.int32, "indices"),
            "classes": check_classes(self.classes),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, read_only(column))
        _check_rows(self)

    @property
    def n_examples(self) -> int:
        """Number of examples n."""
        return len(self.indptr) - 1

    @property
    def n_classes(self) -> int:
        """Number of classes q."""
        return len(self.classes)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, q) of the indicator."""
        return self.n_examples, self.n_classes

    @cached_property
    def counts(self) -> IntArray:
        """Number of examples n_k that exclude each class, shape (q,)."""
        return read_only(np.bincount(self.indices, minlength=self.n_classes))

    @property
    def rates(self) -> NDArray[np.float64]:
        """π̄_k = n_k / n: fraction of examples that exclude each class, shape (q,)."""
        return self.counts / self.n_examples

    @property
    def per_example(self) -> IntArray:
        """Number of classes that each example excludes, shape (n,)."""
        return read_only(np.diff(self.indptr))

    def indicator(self, rows: Any = None, dtype: DTypeLike = bool) -> Array:
        """Return the exclusions as a dense matrix.

        Parameters
        ----------
        rows : array of int, mask or slice, optional
            The m examples, in order; by default all.
        dtype : data type
            Type of the matrix.

        Returns
        -------
        array of shape (m, q)
            1 (or True) where the example excludes the class, else 0.

        Examples
        --------
        >>> from scarce.labels import ComplementaryLabels
        >>> ComplementaryLabels.from_single([2, 0, 1], classes=3).indicator([1], dtype=int).tolist()
        [[1, 0, 0]]
        """
        chosen = np.arange(self.n_examples) if rows is None else row_indices(rows, self.n_examples)
        positions, lengths = csr_positions(self.indptr, chosen)
        dense = np.zeros((len(chosen), self.n_classes), dtype)
        dense[np.repeat(np.arange(len(chosen)), lengths), self.indices[positions]] = 1
        return dense

    def to_csr(self) -> sparse.csr_matrix:
        """Return the exclusions as a sparse boolean matrix of shape (n, q)."""
        return sparse.csr_matrix(
            (np.ones(len(self.indices), bool), self.indices, self.indptr), shape=self.shape
        )

    def __len__(self) -> int:
        return self.n_examples

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return self.indicator(dtype=np.uint8 if dtype is None else dtype)


def _check_rows(exclusions: Exclusions) -> None:
    indptr, indices = exclusions.indptr, exclusions.indices
    if indptr.ndim != 1 or len(indptr) < 2:
        raise LabelError(
            "the labels have no rows; expected at least one example: check the input for missing rows."
        )
    if indptr[0] != 0 or indptr[-1] != indices.size or (exclusions.per_example < 0).any():
        raise LabelError(
            "indptr does not split indices into rows; expected increasing offsets from 0: make labels with a converter (from_...)."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= exclusions.n_classes):
        raise LabelError(
            f"indices range from {indices.min()} to {indices.max()}; expected 0 to {exclusions.n_classes - 1}: make labels with a "
            "converter (from_...)."
        )
    is_increasing = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    is_increasing[starts[(starts > 0) & (starts < indices.size)] - 1] = True
    if not is_increasing.all():
        raise LabelError(
            "indices are not sorted and distinct in every row, as expected; make labels with a converter (from_...)."
        )
