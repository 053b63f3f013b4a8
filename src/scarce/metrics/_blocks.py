"""Scores of shape (n, q), read one block of rows at a time, so that no metric needs memory for n × q numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from torch import Tensor

from scarce._arrays import FloatArray, IntArray
from scarce._class_names import lookup_codes, names_to_array
from scarce._validation import abbreviate
from scarce.errors import FeatureError, LabelError
from scarce.labels import ComplementaryLabels

_MAX_CELLS = 1 << 19  # scores per block: 4 MB in float64


class Block(NamedTuple):
    """Scores of a block of rows, and the exclusions of these rows as pairs of row and class."""

    scores: FloatArray
    """The scores, of shape (b, q)."""
    rows: IntArray
    """The row of each exclusion within the block, of shape (m,)."""
    columns: IntArray
    """The excluded class, of shape (m,)."""


@dataclass(frozen=True)
class LazyScores:
    """Scores of shape (n, q) that are computed when their rows are read: ``function(X[rows])``.

    Examples
    --------
    >>> LazyScores(np.exp, np.zeros((5, 3)), 3)[0:2].shape
    (2, 3)
    """

    function: Callable[[Any], Any]
    X: Any
    n_classes: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, q) of all scores."""
        return (self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)), self.n_classes

    def __getitem__(self, rows: slice) -> Any:
        return self.function(_safe_indexing(self.X, rows))


def iter_blocks(scores: Any, labels: ComplementaryLabels, what: str) -> Iterator[Block]:
    """Yield logits or probabilities of shape (n, q) block by block; `what` names them in error messages.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=2)
    >>> [block.columns.tolist() for block in iter_blocks([[0.1, 0.9], [0.5, 0.5]], labels, "probabilities")]
    [[0, 1]]
    """
    matrix = scores if isinstance(scores, (np.ndarray, Tensor, LazyScores)) else to_float_matrix(scores, what)
    _check_scores_shape(matrix.shape, labels.shape, what)
    block_rows = max(1, _MAX_CELLS // labels.n_classes)
    for start in range(0, labels.n_examples, block_rows):
        ends = labels.indptr[start : start + block_rows + 1]
        lengths = np.diff(ends)
        block = to_float_matrix(matrix[start : start + block_rows], what)
        _check_scores_shape(block.shape, (len(lengths), labels.n_classes), what)
        yield Block(block, np.repeat(np.arange(len(lengths)), lengths), labels.indices[ends[0] : ends[-1]])


def to_float_matrix(scores: Any, what: str) -> FloatArray:
    """Return scores as an array of float64; `what` names them in error messages.

    Examples
    --------
    >>> to_float_matrix([["a", "b"]], "probabilities")
    Traceback (most recent call last):
    scarce.errors.LabelError: the probabilities are not a matrix of numbers; expected one row per example and one column per ...
    """
    try:
        return np.asarray(scores.detach().cpu() if isinstance(scores, Tensor) else scores, float)
    except (OverflowError, TypeError, ValueError):
        raise LabelError(
            f"the {what} are not a matrix of numbers; expected one row per example and one column per class: pass a dense array."
        ) from None


def _check_scores_shape(shape: tuple[int, ...], expected: tuple[int, int], what: str) -> None:
    if tuple(shape) != expected:
        raise LabelError(
            f"the {what} have shape {tuple(shape)}; expected {expected} like the labels: pass the {what} of the same examples."
        )


def predicted_codes(predicted: Any, labels: ComplementaryLabels) -> IntArray:
    """Return n predicted class names as class indices of shape (n,); raise an error for a wrong number or an unknown name.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["cat", "dog"], classes=["cat", "dog"])
    >>> predicted_codes(["dog", "dog"], labels).tolist()
    [1, 1]
    """
    names = names_to_array(predicted)
    if names.shape != (labels.n_examples,):
        raise FeatureError(
            f"the predictions have shape {names.shape}; expected ({labels.n_examples},), one per labeled example: "
            "pass clf.predict(X) of the same examples."
        )
    codes = lookup_codes(names, labels.classes)
    if (codes < 0).any():
        raise LabelError(
            f"the prediction {names[codes < 0][0]!s} is not one of the classes ({abbreviate(labels.classes)}); pass predicted "
            "class names, or include it in classes=[...] of the labels."
        )
    return codes
