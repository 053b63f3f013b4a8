"""TIcE: the fraction of positives that are labeled, from the subsets of rows with the most labels."""

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import BoolArray, FloatArray
from scarce._validation import check_integer, check_numbers
from scarce.errors import FeatureError, LabelError
from scarce.priors._feature_based import FeatureEstimator

_FOLDS = 5
_N_INTERVALS = 4  # into which the range of every feature is split
_MIN_ROWS = 10  # in a subset
_PSEUDO_COUNT = 5  # added to every subset when splits are compared, so that tiny subsets do not win

IntArray = NDArray[np.intp]


def tice(features: Any, positive: Any, *, max_splits: int = 500, seed: int = 0) -> float:
    """Estimate the label frequency c, the fraction of positives that are labeled, with TIcE [1]_.

    In every subset of the rows the expected labeled fraction is at most c, and it equals c in a subset of positives. By
    Chebyshev's inequality, with probability 1 − δ,

        c ≥ L/T − √( c̃ (1 − c̃) (1 − δ) / (δ T) ),    δ = max(0.025, 1/(1 + 0.004 n_test)),

    where L of the T rows of the subset are labeled, n_test is the number of test rows, and c̃ is a guess of c. A decision tree
    grown on one of five folds proposes subsets with many labels, and the bounds are computed on the other four folds. The estimate
    is the best bound, averaged over the five choices of the fold: first with c̃ = 0.5, then again with c̃ set to the first estimate.

    A split divides the range of a feature into four equal intervals; no feature is split twice on the path to a subset. With
    "excludes k" as the label, 1 − π_k = π̄_k / c.

    Parameters
    ----------
    features : array of shape (n, d)
        Features of all rows, labeled or not.
    positive : bool array of shape (n,)
        Whether each row is labeled positive.
    max_splits : int
        Maximum number of splits of a tree.
    seed : int
        Random seed of the folds.

    Returns
    -------
    float
        c, from 0 to 1.

    References
    ----------
    .. [1] J. Bekker, J. Davis, "Estimating the Class Prior in Positive and Unlabeled Data Through Decision Tree Induction",
       AAAI, 2018. https://doi.org/10.1609/aaai.v32i1.11715

    Examples
    --------
    Half of the rows with feature 1 are labeled, and none with feature 0:

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
    """Return which quarter of the range of its feature every value is in, 0 to 3, of shape (n, d)."""
    low, width = features.min(axis=0), np.ptp(features, axis=0)
    scaled = (features - low) / np.where(width > 0, width, 1.0)
    quarters: NDArray[np.uint8] = np.minimum(scaled * _N_INTERVALS, _N_INTERVALS - 1).astype(np.uint8)
    return quarters


def _check_labeled(positive: Any, n: int) -> BoolArray:
    labeled = np.asarray(positive)
    if labeled.dtype != bool or labeled.shape != (n,):
        raise LabelError(
            f"positive has dtype {labeled.dtype} and shape {labeled.shape}; expected True or False for each of {n} rows: pass a "
            "bool array."
        )
    if n < _FOLDS * _MIN_ROWS or labeled.all() or not labeled.any():
        raise LabelError(
            f"{labeled.sum()} of {n} rows are labeled positive; expected at least {_FOLDS * _MIN_ROWS} rows, some "
            "labeled and some not: collect more examples or labels."
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
    """Return the best lower bound on c over the subsets of `test_rows` in the nodes of a tree grown on `grow_rows`.

    Parameters
    ----------
    intervals : array of shape (n, d)
        The interval, 0 to 3, of every feature value.
    labeled : array of shape (n,)
        Whether each row is labeled.
    grow_rows, test_rows : arrays of row indices
        The rows that the tree is grown on, and those that bounds are computed from.
    c : float
        c̃, the guess of c in the margin.
    max_splits : int
        Maximum number of splits.
    """
    delta = max(0.025, 1 / (1 + 0.004 * len(test_rows)))
    spread = c * (1 - c) * (1 - delta) / delta

    def bound(rows: IntArray) -> float:
        return float(labeled[rows].mean() - np.sqrt(spread / len(rows)))

    best = float(labeled[test_rows].mean())  # the fraction over all rows needs no margin
    order = count()  # breaks ties: the oldest subset first
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
            # The best conceivable subset has these L labeled rows and no others: its bound is 1 − √(spread / L).
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
    """Return the feature to split, or None, and the features that may split its intervals: the highest labeled fraction wins."""
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
    remaining[chosen] = False  # features that do not split these rows do not split a subset either
    return int(features[chosen]), features[remaining]


@dataclass(frozen=True, kw_only=True)
class Tice(FeatureEstimator):
    """1 − π_k = π̄_k / c_k, where c_k is the largest fraction of rows that exclude k in any region of the feature space.

    TIcE [1]_: decision trees search for the region, and a margin accounts for its number of rows. No other model is trained.

    Parameters
    ----------
    max_splits : int
        Maximum number of splits of a tree.
    n_rows : int
        Maximum number of rows to use; more are subsampled at random.
    bootstrap, shrink, seed
        See `PriorEstimator`; here `bootstrap` is 0 by default.

    See Also
    --------
    KernelMean : The other estimator that compares features, by kernel means.
    BestBin : The default estimator.
    PriorEstimator : The base class, with `estimate`.

    References
    ----------
    .. [1] J. Bekker, J. Davis, "Estimating the Class Prior in Positive and Unlabeled Data Through Decision Tree Induction",
       AAAI, 2018. https://doi.org/10.1609/aaai.v32i1.11715

    Examples
    --------
    >>> from scarce.simulate import scar
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(3, 3000, p=[0.2, 0.3, 0.5])
    >>> X = 6 * np.eye(3)[y] + rng.normal(size=(3000, 3))
    >>> Tice().estimate(X, scar(y, c=0.5)).values.round(1).tolist()
    [0.2, 0.3, 0.5]
    """

    name: ClassVar[str] = "tice"

    max_splits: int = 500

    def prior(self, features: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k = 1 − π̄_k / c_k, with c_k by `tice`."""
        return 1 - min(1.0, rate / tice(features, excluded, max_splits=self.max_splits, seed=self.seed))
