"""TIcE: the share of positives that are labelled, from the subset of rows where labels are densest."""

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

__all__ = ["Tice", "tice"]

_FOLDS = 5
_PARTS = 4  # of the range of a feature
_FEWEST = 10  # rows in a subset
_PSEUDO_COUNT = 5  # unlabelled rows added to a subset, so that a tiny one is not taken for a dense one

IntArray = NDArray[np.intp]


def tice(features: Any, positive: Any, *, max_splits: int = 500, seed: int = 0) -> float:
    """Estimate the label frequency c, the share of positives that are labelled (Bekker and Davis, 2018).

    In every subset of the rows the labelled share is at most c, and in one of positives only it is c. So

        c ≥ L/T − √( c̃ (1 − c̃) (1 − δ) / (δ T) ),    δ = max(0.025, 1/(1 + 0.004 n)),

    with L labelled among the T rows of a subset and n rows to judge by, holds with probability 1 − δ (Chebyshev). A
    decision tree grown on one fold proposes subsets in which labels are dense, the other four judge them, and the
    mean over the folds of the best bound is the estimate: first with c̃ = 0.5, then once more with c̃ that estimate.

    Each feature, scaled to [0, 1], is split into four equal parts, at most once on the way to a subset. With ȳ_k for the
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
    parts = _parts(check_numbers(features, "the features", ndim=2, error=FeatureError))
    labelled = _check_labelled(positive, len(parts))
    check_integer("max_splits", max_splits, 1)
    folds = np.random.default_rng(check_integer("seed", seed)).permutation(len(parts)) % _FOLDS
    rows = np.arange(len(parts))
    c = 0.5
    for _ in range(2):
        bounds = [
            _best_bound(parts, labelled, rows[folds == fold], rows[folds != fold], c, max_splits)
            for fold in range(_FOLDS)
        ]
        c = float(np.mean(bounds))
    return c


def _parts(features: FloatArray) -> NDArray[np.uint8]:
    """Return in which quarter of its feature's range every value lies."""
    low, width = features.min(axis=0), np.ptp(features, axis=0)
    scaled = (features - low) / np.where(width > 0, width, 1.0)
    quarters: NDArray[np.uint8] = np.minimum(scaled * _PARTS, _PARTS - 1).astype(np.uint8)
    return quarters


def _check_labelled(positive: Any, n: int) -> BoolArray:
    labelled = np.asarray(positive)
    if labelled.dtype != bool or labelled.shape != (n,):
        raise LabelError(
            f"positive holds {labelled.dtype} of shape {labelled.shape}; expected true or false for each of {n} rows."
        )
    if n < _FOLDS * _FEWEST or labelled.all() or not labelled.any():
        raise LabelError(
            f"{labelled.sum()} of {n} rows are labelled positive; expected at least {_FOLDS * _FEWEST} rows, some of them "
            "labelled and some not."
        )
    return labelled


def _best_bound(
    parts: NDArray[np.uint8], labelled: BoolArray, grow: IntArray, judge: IntArray, c: float, max_splits: int
) -> float:
    """Return the best lower bound of c over the subsets of `judge` in the leaves and nodes of a tree grown on `grow`."""
    delta = max(0.025, 1 / (1 + 0.004 * len(judge)))
    spread = c * (1 - c) * (1 - delta) / delta

    def bound(rows: IntArray) -> float:
        return float(labelled[rows].mean() - np.sqrt(spread / len(rows)))

    best = float(labelled[judge].mean())  # over all rows it needs no margin
    ticket = count()  # of equal bounds, the older first
    queue = [(-bound(grow), next(ticket), grow, judge, np.arange(parts.shape[1]))]
    while queue and max_splits:
        max_splits -= 1
        _, _, grow, judge, features = heapq.heappop(queue)
        feature, features = _split(parts[grow][:, features], labelled[grow], features)
        if feature is None:
            continue
        for part in range(_PARTS):
            grown, judged = (rows[parts[rows, feature] == part] for rows in (grow, judge))
            if len(judged) >= _FEWEST:
                best = max(best, bound(judged))
            # A subset of fewer labelled rows, were they all of it, could not reach beyond the best bound.
            worth = labelled[judged].sum() * (1 - best) ** 2 > spread
            if worth and len(grown) > _FEWEST and 0 < labelled[grown].sum() < len(grown):
                heapq.heappush(queue, (-bound(grown), next(ticket), grown, judged, features))
    return best


def _split(parts: NDArray[np.uint8], labelled: BoolArray, features: IntArray) -> tuple[int | None, IntArray]:
    """Return the feature one part of which has labels densest, and the features left for the parts."""
    n, d = parts.shape
    cells = parts + _PARTS * np.arange(d)
    totals = np.bincount(cells.ravel(), minlength=_PARTS * d).reshape(d, _PARTS)
    dense = np.bincount(cells[labelled].ravel(), minlength=_PARTS * d).reshape(d, _PARTS)
    splits = totals.max(axis=1) < n
    if not splits.any():
        return None, features
    scores = (dense / (totals + _PSEUDO_COUNT)).max(axis=1)
    chosen = int(np.argmax(np.where(splits, scores, -1.0)))
    others = splits.copy()
    others[chosen] = False  # and what does not split these rows splits no part of them
    return int(features[chosen]), features[others]


@dataclass(frozen=True, kw_only=True)
class Tice(FeatureEstimator):
    """1 − π_k = π̄_k / c_k, c_k the largest share of rows that exclude k in a part of the feature space; see `tice`.

    Parameters
    ----------
    max_splits : int
        How many parts to look at.

    Examples
    --------
    >>> Tice().name
    'tice'
    """

    name: ClassVar[str] = "tice"

    max_splits: int = 500

    def prior(self, features: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Read π_k off the label frequency."""
        return 1 - min(1.0, rate / tice(features, excluded, max_splits=self.max_splits, seed=self.seed))
