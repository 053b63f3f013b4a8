"""The base class of prior estimators: statistics per row, one raw estimate per class, bootstrap intervals."""

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
from scarce._validation import abbreviate, check_flag, check_integer
from scarce.errors import FeatureError, MethodError, PriorError, PriorWarning
from scarce.features import Shards
from scarce.features._arrays import check_finite
from scarce.labels import ComplementaryLabels
from scarce.labels._targets import as_labels
from scarce.priors.estimate import PriorEstimate, to_simplex

MakeModel = Callable[[int], nn.Module]
"""A function from a seed to a new model."""

MIN_EXCLUSIONS = 10
"""A prior is estimated only if at least this many rows exclude the class and at least this many do not."""

_MIN_RESAMPLES = 10
_MAX_SUM_DEVIATION, _MAX_STANDARD_ERRORS = 0.25, 3.0  # of the sum of the raw estimates from one
_INTERVAL_QUANTILES = (0.025, 0.975)


@dataclass(frozen=True, kw_only=True)
class PriorEstimator(ABC):
    """Base class of estimators of all class priors from features and complementary labels, assuming SCAR.

    A subclass implements `statistics`, which is computed once (features, or scores of held-out rows), and `raw`, an estimate of
    every prior from these statistics. `estimate` adds bootstrap intervals and makes the priors sum to one.

    Parameters
    ----------
    bootstrap : int
        Number of bootstrap resamples for 95 % confidence intervals; 0 for no intervals. Scorers are not trained again for each
        resample, so the intervals leave out the uncertainty of training.
    shrink : bool
        Shrink the priors towards uniform priors. The noisier the estimate is in the bootstrap, the more it is shrunk.
    seed : int
        Random seed; the same seed gives the same estimate.

    See Also
    --------
    make_estimator : Make a built-in estimator by its name.
    resolve_priors : Resolve any value of a parameter ``priors``, including an estimator.

    Examples
    --------
    If every wrong class is excluded equally often, the rates alone give π_k = 1 − (q − 1) π̄_k / Σ_j π̄_j:

    >>> from scarce.simulate import scar
    >>> @dataclass(frozen=True, kw_only=True)
    ... class EqualRates(PriorEstimator):
    ...     name = "equal-rates"
    ...     def statistics(self, X, labels, **settings):
    ...         return [], np.arange(len(labels))
    ...     def raw(self, statistics, excluded, rates):
    ...         rates = excluded.mean(axis=0)
    ...         return 1 - (len(rates) - 1) * rates / rates.sum()
    >>> y = np.repeat([0, 1, 2], [200, 300, 500])
    >>> EqualRates().estimate(np.zeros((1000, 1)), scar(y, c=0.5)).values.round(1).tolist()
    [0.2, 0.3, 0.5]
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1
    """Raise it when the same settings give other numbers; results of earlier revisions are then outdated."""

    bootstrap: int = 100
    shrink: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("bootstrap", self.bootstrap)
        check_flag("shrink", self.shrink)
        if self.bootstrap < _MIN_RESAMPLES and (self.bootstrap or self.shrink):
            needs = "shrink=True" if self.shrink else "an interval"
            raise MethodError(
                f"bootstrap={self.bootstrap}; {needs} needs at least {_MIN_RESAMPLES} resamples; pass bootstrap=100, or "
                "bootstrap=0 and shrink=False for no interval."
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
        """Return what `raw` needs: arrays with one row per example used, and the indices of these examples in `X`.

        Parameters
        ----------
        X : array, sparse matrix or Shards
            Features of all n examples.
        labels : ComplementaryLabels
            Their labels.
        make_model, device, verbose
            See `estimate`.

        Returns
        -------
        statistics : list of arrays of shape (m, ...)
            Features or scores of m of the examples.
        rows : array of shape (m,)
            The indices of these examples.
        """

    @abstractmethod
    def raw(self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return an estimate of every π_k; the estimates need not sum to one.

        Parameters
        ----------
        statistics : list of arrays of shape (m, ...)
            The first value of `statistics`, or a bootstrap resample of its rows.
        excluded : array of shape (m, q)
            Whether each of these examples excludes class k.
        rates : array of shape (q,)
            π̄, the fraction of all n examples that exclude each class.

        Returns
        -------
        array of shape (q,)
            NaN where a prior is not identifiable from these rows.
        """

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
        """Estimate the priors of all classes.

        Parameters
        ----------
        X : array, sparse matrix or Shards
            Features of n examples: a table (n × d) or images.
        labels : ComplementaryLabels or n × q indicator
            The excluded classes of the same examples, in the same order.
        make_model : callable, optional
            A function from a seed to a new model, for estimators that train one; by default, they build their own.
        device : str
            Device to train on, such as ``"cpu"`` or ``"cuda"``.
        verbose : bool
            Show a progress bar.
        check_input : bool
            Check `X` and `labels`. Pass False if they have been checked already.

        Returns
        -------
        PriorEstimate
            Priors that sum to one and satisfy π_k ≤ 1 − π̄_k, with the raw estimates and their intervals.

        Raises
        ------
        PriorError
            If fewer than 10 examples exclude some class, or fewer than 10 do not exclude it.
        FeatureError
            If `X` is not numeric, is not finite, or differs from `labels` in length.

        Warns
        -----
        PriorWarning
            If the sum of the raw estimates is far from one.
        """
        if check_input:
            labels, X = as_labels(labels), _as_feature_array(X)
            check_finite(X)
            if X.shape[0] != labels.n_examples:
                raise FeatureError(
                    f"X has {X.shape[0]} rows and the labels have {labels.n_examples}; expected one row per label: pass both of "
                    "the same examples."
                )
        check_enough_exclusions(labels)
        statistics, rows = self.statistics(X, labels, make_model=make_model, device=device, verbose=verbose)
        excluded = labels.indicator(rows)
        raw = self.raw(statistics, excluded, labels.rates)
        if np.isnan(raw).any():
            raise PriorError(
                f"class {abbreviate(labels.classes[np.isnan(raw)])} is excluded by none or all of the held-out rows; expected "
                "some that exclude it and some that do not: pass folds=5 to hold out every row once, or priors=[...]."
            )
        values, low, high, total_error = to_simplex(raw, labels.rates), None, None, 0.0
        if self.bootstrap:
            resampled = self._bootstrap_estimates(statistics, excluded, labels.rates)
            low, high = np.nanquantile(resampled, _INTERVAL_QUANTILES, axis=0)
            total_error = float(np.nanstd(resampled.sum(axis=1)))
            if self.shrink:
                values = to_simplex(shrink_to_uniform(values, resampled), labels.rates)
        source = f"{self.name}, shrunk towards uniform" if self.shrink else self.name
        estimate = PriorEstimate(values, source, raw, low, high, labels.classes)
        if abs(estimate.total - 1) > max(_MAX_SUM_DEVIATION, _MAX_STANDARD_ERRORS * total_error):
            warnings.warn(
                f"the estimated priors sum to {estimate.total:.2f} before normalization; expected about 1. The excluded classes "
                "may not have been chosen at random, or there are too few examples: check the priors, or pass "
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
    """1/q + B (π − 1/q), with B = max(0, 1 − Σ_k Var π_k / Σ_k (π_k − 1/q)²).

    Shrink priors towards uniform priors. Priors estimated from few rows differ from each other mostly by chance, and uniform
    priors are then a better guess; with many rows, B is near 1, and the priors hardly change.

    Parameters
    ----------
    values : array of shape (q,)
        π, summing to one.
    resampled : array of shape (resamples, q)
        Raw estimates from bootstrap resamples; Var π_k is their variance after normalization.

    Returns
    -------
    array of shape (q,)
        Priors that sum to one.

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
    elif not isinstance(X, (Shards, np.memmap)):  # those stay on disk
        X = np.asarray(X)
    if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape[1:]:
        raise FeatureError(
            f"X has dtype {X.dtype} and shape {X.shape}; expected numbers, one row per example and at least one column: "
            "encode text, and reshape a vector with X[:, None]."
        )
    return X


def identifiable_classes(excluded: NDArray[np.bool_]) -> list[int]:
    """Return the indices of the classes that some rows exclude and others do not; the priors of others are not identifiable.

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
    scarce.errors.PriorError: class 2 is excluded by 0 of 100 examples; expected at least 10 ... or the priors themselves.
    """
    n, counts = labels.n_examples, labels.counts
    for side, side_counts in (("excluded", counts), ("left possible", n - counts)):
        if (side_counts < MIN_EXCLUSIONS).any():
            k = int(np.argmax(side_counts < MIN_EXCLUSIONS))
            raise PriorError(
                f"class {labels.classes[k]} is {side} by {side_counts[k]} of {n} examples; expected at least "
                f"{MIN_EXCLUSIONS} to estimate its prior: collect more labels, or pass priors='uniform' or the priors themselves."
            )


def unidentifiable_classes(labels: ComplementaryLabels) -> NDArray[Any]:
    """Return the names of the classes whose priors cannot be estimated: too few examples exclude them, or too few do not.

    Examples
    --------
    >>> unidentifiable_classes(ComplementaryLabels.from_single([0] * 50 + [1] * 50, classes=3)).tolist()
    [2]
    """
    smaller_side = np.minimum(labels.counts, labels.n_examples - labels.counts)
    return labels.classes[smaller_side < MIN_EXCLUSIONS]
