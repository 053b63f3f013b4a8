"""The base class of prior estimators: statistics of rows, one raw estimate per class, and a bootstrap around them."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from torch import nn

from scarce._arrays import FloatArray
from scarce._validation import abbreviate, check_integer
from scarce.errors import FeatureError, MethodError, PriorError, PriorWarning
from scarce.features import Shards
from scarce.features.arrays import check_finite
from scarce.labels import ComplementaryLabels
from scarce.labels.targets import as_labels
from scarce.priors.estimate import PriorEstimate, to_simplex

__all__ = [
    "MIN_EXCLUSIONS",
    "MakeModel",
    "PriorEstimator",
    "check_enough_exclusions",
    "shrink_to_uniform",
    "identifiable_classes",
    "unidentifiable_classes",
]

MakeModel = Callable[[int], nn.Module]
"""Makes a model from a seed."""

MIN_EXCLUSIONS = 10
"""Rows that must exclude a class, and rows that must not, for its prior to be estimated."""

_MIN_RESAMPLES = 10
_MAX_SUM_DEVIATION, _MAX_STANDARD_ERRORS = 0.25, 3.0  # of the sum of the raw estimates from one
_INTERVAL_QUANTILES = (0.025, 0.975)


@dataclass(frozen=True, kw_only=True)
class PriorEstimator(ABC):
    """Estimates all class priors from features and complementary labels, assuming SCAR.

    Parameters
    ----------
    bootstrap : int
        The number of bootstrap resamples for 95 % intervals; 0 for none. Only the rows that the estimate is made from are
        resampled, not those that a scorer was trained on, so the intervals leave out that part of the uncertainty.
    shrink : bool
        Shrink the priors towards uniform ones by the bootstrap estimate of their noise; see `shrink_to_uniform`.
    seed : int
        Same seed, same estimate.
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    """Raise when the same settings give other numbers; results of earlier revisions are then outdated."""

    bootstrap: int = 100
    shrink: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("bootstrap", self.bootstrap)
        if self.bootstrap < _MIN_RESAMPLES and (self.bootstrap or self.shrink):
            needs = "shrink=True" if self.shrink else "an interval"
            raise MethodError(
                f"bootstrap={self.bootstrap}; {needs} needs at least {_MIN_RESAMPLES} resamples (0 without an interval)."
            )
        check_integer("seed", self.seed)

    @abstractmethod
    def statistics(
        self,
        X: Any,
        labels: ComplementaryLabels,
        *,
        make_model: MakeModel | None,
        device: str,
        verbose: bool,
    ) -> tuple[list[FloatArray], NDArray[np.intp]]:
        """Return arrays that estimates are made from, and the row numbers of `X` that their rows belong to."""

    @abstractmethod
    def raw(self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return an estimate of every π_k, before they are made to sum to one."""

    def estimate(
        self,
        X: Any,
        labels: ComplementaryLabels,
        *,
        make_model: MakeModel | None = None,
        device: str = "cpu",
        verbose: bool = False,
        check_input: bool = True,
    ) -> PriorEstimate:
        """Return the priors of all classes.

        Parameters
        ----------
        X : array, sparse matrix or Shards
            One row per example: a table or images.
        labels : ComplementaryLabels or n × q indicator
            What is known, in the same order.
        make_model : callable, optional
            Makes the model to train from a seed; by default the estimator makes it.
        device : str
            Where to train it.
        verbose : bool
            Show a progress bar.
        check_input : bool
            Whether to check `X` and `labels`; a caller that has checked them passes False.

        Returns
        -------
        PriorEstimate
            Priors that sum to one and leave room for the exclusions (π_k ≤ 1 − π̄_k), with the raw estimates.
        """
        if check_input:
            labels, X = as_labels(labels), _as_feature_array(X)
            check_finite(X)
            if X.shape[0] != labels.n_examples:
                raise FeatureError(
                    f"X has {X.shape[0]} rows and the labels have {labels.n_examples}; expected one each."
                )
        check_enough_exclusions(labels)
        statistics, rows = self.statistics(X, labels, make_model=make_model, device=device, verbose=verbose)
        excluded = labels.indicator(rows)
        raw = self.raw(statistics, excluded, labels.rates)
        if np.isnan(raw).any():
            raise PriorError(
                f"none of the held-out rows excludes class {abbreviate(labels.classes[np.isnan(raw)])}; pass folds=5, which holds "
                "out every row once, or priors=[...]."
            )
        values, low, high, total_error = to_simplex(raw, labels.rates), None, None, 0.0
        if self.bootstrap:
            resampled = self._bootstrap_estimates(statistics, excluded, labels.rates)
            low, high = np.nanquantile(resampled, _INTERVAL_QUANTILES, axis=0)
            total_error = float(np.nanstd(resampled.sum(axis=1)))
            if self.shrink:
                values = to_simplex(shrink_to_uniform(values, resampled), labels.rates)
        source = f"{self.name}, drawn towards equal priors" if self.shrink else self.name
        estimate = PriorEstimate(values, source, raw, low, high, labels.classes)
        if abs(estimate.total - 1) > max(_MAX_SUM_DEVIATION, _MAX_STANDARD_ERRORS * total_error):
            warnings.warn(
                f"the estimated priors sum to {estimate.total:.2f} before normalising; they should be near 1. The classes to "
                "exclude may not have been chosen at random, or there are too few examples: check the priors, or pass "
                "priors='uniform' or the priors themselves.",
                PriorWarning,
                stacklevel=2,
            )
        return estimate

    def _bootstrap_estimates(
        self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray
    ) -> FloatArray:
        """Return raw estimates from bootstrap resamples, of shape (bootstrap, q)."""
        rng = np.random.default_rng(self.seed)
        n = len(excluded)
        draws = (rng.integers(n, size=n) for _ in range(self.bootstrap))
        return np.array(
            [self.raw([array[draw] for array in statistics], excluded[draw], rates) for draw in draws]
        )


def shrink_to_uniform(values: FloatArray, resampled: FloatArray) -> FloatArray:
    """Shrink priors towards uniform ones: 1/q + B (π − 1/q), B = max(0, 1 − Σ_k Var π_k / Σ_k (π_k − 1/q)²).

    Few rows give priors that differ by chance alone, and uniform ones are then the better guess; many rows give B near 1.

    Parameters
    ----------
    values : array of shape (q,)
        π, summing to one.
    resampled : array of shape (resamples, q)
        Estimates from bootstrap resamples.

    Examples
    --------
    >>> shrink_to_uniform(np.array([0.4, 0.6]), np.array([[0.4, 0.6], [0.5, 0.5], [0.3, 0.7]])).round(3).tolist()
    [0.467, 0.533]
    """
    uniform = 1 / len(values)
    priors = np.nan_to_num(resampled).clip(min=0)
    priors = priors / np.maximum(priors.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    signal = ((values - uniform) ** 2).sum()
    factor = max(0.0, 1 - priors.var(axis=0).sum() / signal) if signal else 0.0
    return uniform + factor * (values - uniform)


def _as_feature_array(X: Any) -> Any:
    X = X.detach().cpu() if hasattr(X, "detach") else X
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, (Shards, np.memmap)):  # which stay on disk
        X = np.asarray(X)
    if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape[1:]:
        raise FeatureError(
            f"X holds {X.dtype} in the shape {X.shape}; expected numbers, one row per example and some columns."
        )
    return X


def identifiable_classes(excluded: NDArray[np.bool_]) -> list[int]:
    """Return the classes that some of the rows exclude and some do not: the priors of the others are not identifiable.

    Examples
    --------
    >>> identifiable_classes(np.array([[True, False, True], [True, False, False]]))
    [2]
    """
    counts = np.count_nonzero(excluded, axis=0)
    return np.nonzero((counts > 0) & (counts < len(excluded)))[0].tolist()


def check_enough_exclusions(labels: ComplementaryLabels) -> None:
    """Raise a `PriorError` if a class is excluded by almost none or almost all of the examples.

    Examples
    --------
    >>> check_enough_exclusions(ComplementaryLabels.from_single([0] * 50 + [1] * 50, classes=3))
    Traceback (most recent call last):
    scarce.errors.PriorError: class 2 is excluded by 0 of 100 examples; ... pass priors='uniform' or the priors themselves.
    """
    n, counts = labels.n_examples, labels.counts
    for side, side_counts in (("excluded", counts), ("left possible", n - counts)):
        if (side_counts < MIN_EXCLUSIONS).any():
            k = int(np.argmax(side_counts < MIN_EXCLUSIONS))
            raise PriorError(
                f"class {labels.classes[k]} is {side} by {side_counts[k]} of {n} examples; to estimate its prior at least "
                f"{MIN_EXCLUSIONS} are needed: ask about it, or pass priors='uniform' or the priors themselves."
            )


def unidentifiable_classes(labels: ComplementaryLabels) -> NDArray[Any]:
    """Return the classes that too few examples exclude, or leave possible, for their priors to be estimated.

    Examples
    --------
    >>> unidentifiable_classes(ComplementaryLabels.from_single([0] * 50 + [1] * 50, classes=3)).tolist()
    [2]
    """
    smaller_side = np.minimum(labels.counts, labels.n_examples - labels.counts)
    return labels.classes[smaller_side < MIN_EXCLUSIONS]
