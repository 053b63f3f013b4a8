"""TIcE: the fraction of positives that are labelled, from the subset of rows where labels are densest."""

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import BoolArray, FloatArray
from scarce._validation import check_integer, check_numbers
from scarce.errors import FeatureError, LabelError
from scarce.priors.feature_based import FeatureEstimator

__all__ = ["Tice", "best_lower_bound", "tice"]

_FOLDS = 5
_N_INTERVALS = 4  # that the range of a feature is split into
_MIN_ROWS = 10  # rows in a subset
_PSEUDO_COUNT = 5  # unlabelled rows added to a subset, so that a tiny one is not taken for a dense one

IntArray = NDArray[np.intp]


def tice(features: Any, positive: Any, *, max_splits: int = 500, seed: int = 0) -> float:
    """Estimate the label frequency c, the fraction of positives that are labelled (Bekker and Davis, 2018).

    In every subset of the rows the labelled fraction is at most c, and in one of positives only it is c. So

        c ≥ L/T − √( c̃ (1 − c̃) (1 − δ) / (δ T) ),    δ = max(0.025, 1/(1 + 0.004 n)),

    with L labelled among the T rows of a subset and n test rows, holds with probability 1 − δ (Chebyshev). A
    decision tree grown on one fold proposes subsets in which labels are dense, the other four test them, and the
    mean over the folds of the best bound is the estimate: first with c̃ = 0.5, then once more with c̃ that estimate.

    Each feature, scaled to [0, 1], is split into four equal intervals, at most once on the way to a subset. With ȳ_k for the
    label, 1 − π_k = π̄_k / c.

    Parameters
    ----------
    features : array of shape (n, d)
        Of all rows, labelled or not.
    positive : array of shape (n,)
        True where a row is labelled positive.
    max_splits : int
        The most splits of a tree.
    seed : int
        Of the assignment to folds.

    Examples
    --------
    Half of the rows with a one are labelled, and none with a zero:

    >>> features = np.repeat([0.0, 1.0], 20_000)[:, np.newaxis]
    >>> positive = np.arange(40_000) % 2 * features[:, 0] > 0
    >>> round(tice(features, positive), 1)
    0.5
    """
    intervals = _to_intervals(check_numbers(features, "the features", ndim=2, error=FeatureError))
    labeled = _check_labeled(positive, len(intervals))
    check_integer("max_splits", max_splits, 1)
    folds = np.random.default_rng(check_integer("seed", seed)).permutation(len(intervals)) % _FOLDS
    rows = np.arange(len(intervals))
    c = 0.5
    for _ in range(2):
        bounds = [
            best_lower_bound(intervals, labeled, rows[folds == fold], rows[folds != fold], c, max_splits)
            for fold in range(_FOLDS)
        ]
        c = float(np.mean(bounds))
    return c


def _to_intervals(features: FloatArray) -> NDArray[np.uint8]:
    """Return in which of four intervals of its feature's range every value lies."""
    low, width = features.min(axis=0), np.ptp(features, axis=0)
    scaled = (features - low) / np.where(width > 0, width, 1.0)
    quarters: NDArray[np.uint8] = np.minimum(scaled * _N_INTERVALS, _N_INTERVALS - 1).astype(np.uint8)
    return quarters


def _check_labeled(positive: Any, n: int) -> BoolArray:
    labeled = np.asarray(positive)
    if labeled.dtype != bool or labeled.shape != (n,):
        raise LabelError(
            f"positive holds {labeled.dtype} of shape {labeled.shape}; expected true or false for each of {n} rows."
        )
    if n < _FOLDS * _MIN_ROWS or labeled.all() or not labeled.any():
        raise LabelError(
            f"{labeled.sum()} of {n} rows are labelled positive; expected at least {_FOLDS * _MIN_ROWS} rows, some of them "
            "labelled and some not."
        )
    return labeled


def best_lower_bound(
    intervals: NDArray[np.uint8],
    labeled: BoolArray,
    grow_rows: IntArray,
    test_rows: IntArray,
    c: float,
    max_splits: int,
) -> float:
    """Return the best lower bound of c over the subsets of `test_rows` in the leaves and nodes of a tree grown on `grow_rows`."""
    delta = max(0.025, 1 / (1 + 0.004 * len(test_rows)))
    spread = c * (1 - c) * (1 - delta) / delta

    def bound(rows: IntArray) -> float:
        return float(labeled[rows].mean() - np.sqrt(spread / len(rows)))

    best = float(labeled[test_rows].mean())  # over all rows it needs no margin
    order = count()  # of equal bounds, the oldest first
    queue = [(-bound(grow_rows), next(order), grow_rows, test_rows, np.arange(intervals.shape[1]))]
    while queue and max_splits:
        max_splits -= 1
        _, _, grow_rows, test_rows, features = heapq.heappop(queue)
        feature, features = _split(intervals[grow_rows][:, features], labeled[grow_rows], features)
        if feature is None:
            continue
        for interval in range(_N_INTERVALS):
            grow_subset, test_subset = (
                rows[intervals[rows, feature] == interval] for rows in (grow_rows, test_rows)
            )
            if len(test_subset) >= _MIN_ROWS:
                best = max(best, bound(test_subset))
            # Even if all its rows were labelled, a smaller subset could not exceed the best bound.
            may_improve = labeled[test_subset].sum() * (1 - best) ** 2 > spread
            if (
                may_improve
                and len(grow_subset) > _MIN_ROWS
                and 0 < labeled[grow_subset].sum() < len(grow_subset)
            ):
                heapq.heappush(queue, (-bound(grow_subset), next(order), grow_subset, test_subset, features))
    return best


def _split(
    intervals: NDArray[np.uint8], labeled: BoolArray, features: IntArray
) -> tuple[int | None, IntArray]:
    """Return the feature with the interval in which labels are densest, and the features left for its intervals."""
    n, d = intervals.shape
    cells = intervals + _N_INTERVALS * np.arange(d)
    counts = np.bincount(cells.ravel(), minlength=_N_INTERVALS * d).reshape(d, _N_INTERVALS)
    labeled_counts = np.bincount(cells[labeled].ravel(), minlength=_N_INTERVALS * d).reshape(d, _N_INTERVALS)
    splits = counts.max(axis=1) < n
    if not splits.any():
        return None, features
    scores = (labeled_counts / (counts + _PSEUDO_COUNT)).max(axis=1)
    chosen = int(np.argmax(np.where(splits, scores, -1.0)))
    remaining = splits.copy()
    remaining[chosen] = False  # and what does not split these rows does not split a subset
    return int(features[chosen]), features[remaining]


@dataclass(frozen=True, kw_only=True)
class Tice(FeatureEstimator):
    """1 − π_k = π̄_k / c_k, c_k the largest fraction of rows that exclude k in a subset of the feature space; see `tice`.

    Parameters
    ----------
    max_splits : int
        The limit of splits of the feature space.

    Examples
    --------
    >>> Tice().name
    'tice'
    """

    name: ClassVar[str] = "tice"

    max_splits: int = 500

    def prior(self, features: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k from the label frequency."""
        return 1 - min(1.0, rate / tice(features, excluded, max_splits=self.max_splits, seed=self.seed))
