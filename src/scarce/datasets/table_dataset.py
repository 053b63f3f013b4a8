"""Tables and texts in memory, with true classes and, for some, real candidate sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce._hashing import array_checksum

__all__ = ["N_TERMS", "TableDataset", "tfidf"]

N_TERMS = 1000
"""The number of TF-IDF features of a text."""


@dataclass(frozen=True, eq=False, repr=False)
class TableDataset:
    """A table or a set of texts in memory, without a fixed test set.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X : array of float, shape (n, d)
        The features; for texts an array of n strings.
    y : array of int, shape (n,)
        The true classes, 0 to q − 1.
    classes : tuple of str
        The names of the q classes.
    candidates : array of bool, shape (n, q), or None
        The classes that each example may belong to, if the data set has candidate sets.

    See Also
    --------
    load_table : Load a table by name.
    ImageDataset : A data set of images.

    Examples
    --------
    >>> data = TableDataset("flat", np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]), ("a", "b"))
    >>> data
    TableDataset('flat', 3 examples, 2 classes)
    >>> X_train, X_test = data.features([0, 2], [1])
    >>> X_train.tolist(), X_test.tolist()
    ([[1.0], [4.0]], [[2.0]])
    """

    name: str
    X: NDArray[Any]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    candidates: NDArray[np.bool_] | None = None

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of features or texts, true classes, class names and candidate sets."""
        arrays = [self.X, self.y, np.array(self.classes)]
        return array_checksum(arrays if self.candidates is None else [*arrays, self.candidates])

    @property
    def is_text(self) -> bool:
        """Whether the examples are texts."""
        return self.X.dtype.kind == "U"

    def features(self, train: Any, test: Any) -> tuple[Any, Any]:
        """Return the features of training and test rows; those of texts are sparse TF-IDF, fitted on the training rows."""
        X_train, X_test = self.X[train], self.X[test]
        return tfidf(X_train, X_test) if self.is_text else (X_train, X_test)

    def __repr__(self) -> str:
        return f"TableDataset({self.name!r}, {len(self.y):,} examples, {len(self.classes)} classes)"


def tfidf(train: Sequence[str], test: Sequence[str]) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return TF-IDF features, fitted on `train`: its `N_TERMS` most frequent terms, in rows of norm 1.

    Examples
    --------
    >>> X_train, X_test = tfidf(["who wrote it", "who is it"], ["wrote whom"])
    >>> X_train.shape, X_test.toarray().tolist()
    ((2, 4), [[0.0, 0.0, 0.0, 1.0]])
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import, and needed here only

    vectorizer = TfidfVectorizer(max_features=N_TERMS)
    return vectorizer.fit_transform(train), vectorizer.transform(test)
