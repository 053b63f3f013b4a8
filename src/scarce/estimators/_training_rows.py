"""Remember in a few kilobytes which examples a classifier was trained on, to warn when it is evaluated on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scarce._hashing import row_hashes
from scarce.features._arrays import iter_chunks
from scarce.metrics import Alarm

_MAX_HASHES = 4096  # enough to detect an overlap of one row in a thousand
_MIN_OVERLAP = 0.05  # smallest overlapping fraction of the examples that raises an alarm


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """A sketch of the training rows: the smallest of their 64-bit hashes.

    Whether a row is a training row is known exactly if its hash is at most the largest stored one. Such rows are a random sample
    of any rows, so their overlap with the training rows can be estimated without storing the training rows.

    Attributes
    ----------
    hashes : uint64 array of shape (m,)
        The m ≤ 4096 smallest hashes, sorted.
    is_complete : bool
        Whether these are the hashes of all training rows.

    Examples
    --------
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> sketch = TrainingRows.from_features(X)
    >>> sketch.overlap(X[5:]), sketch.overlap(X + 1000)
    (1.0, 0.0)
    """

    hashes: NDArray[np.uint64]
    is_complete: bool

    @classmethod
    def from_features(cls, X: Any) -> "TrainingRows":
        """Return the sketch of the rows of `X`."""
        hashes = np.unique(_row_hashes(X))
        return cls(hashes[:_MAX_HASHES], len(hashes) <= _MAX_HASHES)

    def as_dict(self) -> dict[str, Any]:
        """Return the sketch as plain data that JSON can store.

        Examples
        --------
        >>> sketch = TrainingRows.from_features(np.eye(3))
        >>> TrainingRows.from_dict(sketch.as_dict()).overlap(np.eye(3))
        1.0
        """
        return {"hashes": self.hashes.astype("<u8").tobytes().hex(), "is_complete": self.is_complete}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "TrainingRows":
        """Return the sketch that `as_dict` returned as plain data."""
        hashes = np.frombuffer(bytes.fromhex(record["hashes"]), "<u8").astype(np.uint64)
        if not len(hashes):
            raise ValueError("training_rows holds no hashes")
        return cls(hashes, bool(record["is_complete"]))

    def overlap(self, X: Any) -> float:
        """Return the estimated fraction of the rows of `X` that are training rows."""
        hashes = _row_hashes(X)
        comparable = hashes if self.is_complete else hashes[hashes <= self.hashes[-1]]
        return float(np.isin(comparable, self.hashes).mean()) if len(comparable) else 0.0

    def alarm(self, X: Any) -> Alarm | None:
        """Return an alarm if at least 5 % of the rows are training rows.

        Examples
        --------
        >>> X = np.eye(4)
        >>> print(TrainingRows.from_features(X).alarm(X).name)
        trained-on-these
        """
        overlap = self.overlap(X)
        if overlap < _MIN_OVERLAP:
            return None
        return Alarm(
            "trained-on-these",
            f"{overlap:.0%} of these examples have the features of training examples, and accuracy on those is higher than on new "
            "data. Evaluate on other examples.",
        )


def _row_hashes(X: Any) -> NDArray[np.uint64]:
    """Return a 64-bit hash per row, of shape (n,); values are cast to float32, so that the dtype of a table does not matter."""
    hashes = [_chunk_hashes(X)] if sparse.issparse(X) else [_chunk_hashes(rows) for _, rows in iter_chunks(X)]
    return np.concatenate(hashes)


def _chunk_hashes(chunk: Any) -> NDArray[np.uint64]:
    if sparse.issparse(chunk):
        rows = chunk.tocsr().astype(np.float32)
        rows.sum_duplicates()
        ends = rows.indptr
        texts = (
            rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes() for a, b in pairwise(ends)
        )
    else:
        dense = np.ascontiguousarray(np.asarray(chunk), np.float32)
        texts = (row.tobytes() for row in dense.reshape(len(dense), -1))
    return row_hashes(texts)
