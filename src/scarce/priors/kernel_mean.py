"""Kernel mean matching: the largest proportion of one distribution that another can contain."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from scarce._arrays import FloatArray
from scarce._validation import check_integer, check_number, check_numbers, renamed_parameters
from scarce.errors import FeatureError
from scarce.priors._feature_based import FeatureEstimator
from scarce.risk._mixture_proportion import Unlabeled, check_unlabeled, priors_from_mixture

_CHECK_EVERY = 50  # steps between convergence checks
_WIDTHS = np.logspace(-1, 1, 5)  # multiples of the median distance
_MAX_COLUMNS = 50
_PROPORTION_TOLERANCE = 0.005
_EPS = 1e-6  # smaller distances between means are rounding errors
_DISTANCE_TOLERANCE = (
    0.03  # of squared distances; 0.001 is up to ten times slower and changes θ by less than 0.01
)


def nearest_mean(
    kernel: FloatArray,
    signed: FloatArray,
    start: FloatArray,
    *,
    negligible: float,
    tolerance: float,
    max_steps: int = 20_000,
) -> FloatArray:
    """argmin_v (u − v)ᵀ K (u − v) over weights v ≥ 0 with Σ_i v_i = 1, where u sums to one but may have negative entries.

    Sequential minimal optimization: each step moves weight to the point i of steepest descent, from the point j whose exchange
    with i lowers the distance most, by an exact line search. It stops when the duality gap

        vᵀg − min_i g_i,    g = K(v − u),

    an upper bound on the error of half the squared distance, is below `tolerance` times the squared distance.

    Parameters
    ----------
    kernel : array of shape (n, n)
        K, positive semi-definite.
    signed : array of shape (n,)
        u.
    start : array of shape (n,)
        Initial weights.
    negligible : float
        A squared distance that counts as zero.
    tolerance : float
        Relative error.
    max_steps : int
        Maximum number of steps; reached only if the distance is nearly zero.

    Returns
    -------
    array of shape (n,)
        v.

    Examples
    --------
    The point of the segment from (0, 0) to (1, 0) that is nearest to the signed mean (2, 0) is (1, 0):

    >>> points = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> nearest_mean(points @ points.T, np.array([-1.0, 2.0]), np.array([1.0, 0.0]), negligible=0, tolerance=0).tolist()
    [0.0, 1.0]
    """
    weights, diagonal = start.astype(float), np.diag(kernel)
    pull = kernel @ signed
    length = float(signed @ pull)
    gradient = kernel @ weights - pull
    for step in range(max_steps):
        target = int(np.argmin(gradient))
        if step % _CHECK_EVERY == 0:
            weighted_gradient = float(weights @ gradient)
            distance = length - float(weights @ pull) + weighted_gradient  # squared
            if weighted_gradient - gradient[target] <= tolerance * max(distance, negligible):
                break
        gains = np.where(weights > 0, gradient - gradient[target], 0.0)
        curvatures = np.maximum(diagonal[target] + diagonal - 2 * kernel[target], 1e-12)
        source = int(np.argmax(gains * gains / curvatures))
        step_size = min(gains[source] / curvatures[source], weights[source])
        weights[target] += step_size
        weights[source] -= step_size
        gradient += step_size * (kernel[target] - kernel[source])
    return weights


def kernel_mean(
    positive: Any, unlabeled: Any, *, largest_share: float = 0.975, n_points: int = 1000, seed: int = 0
) -> float:
    """Estimate the proportion θ of positives among unlabeled rows by kernel mean matching (KM2) [1]_.

    Let F and H be the means of the unlabeled and the positive rows in the feature space of a Gaussian kernel. Removing a
    proportion θ of H from F leaves λF + (1 − λ)H with λ = 1/(1 − θ). As long as F contains that much of H, the remainder is a
    weighted mean of rows, and its distance d(λ) from the set of such means is nearly 0; for larger θ the distance grows. d is
    convex, so bisection finds the θ at which the slope

        d′(λ) = ⟨λF + (1 − λ)H − v, F − H⟩ / d(λ),    v the nearest weighted mean of rows,

    exceeds 1/√n, where n is the size of the smaller sample. If 1/√n is above 0.9 ‖F − H‖, which the slope may never reach, the
    threshold is that of KM1 instead: 0.8 times the slope at λ = 1 plus 0.2 ‖F − H‖.

    The kernel width is one of five, 0.1 to 10 times the median distance: the one that maximizes the distance between the
    distributions. An unbiased estimate of this distance is used; the plain distance between samples grows as the width
    shrinks, even for identical distributions, and would favor the narrowest kernel.

    Parameters
    ----------
    positive, unlabeled : arrays of shape (n_P, d) and (n_U, d)
        Features; more than 50 columns are reduced to 50 principal components.
    largest_share : float
        Upper end of the search for θ. With q classes θ is about 1 − 1/q; 1 − 1/(4q) leaves some margin.
    n_points : int
        Maximum number of rows of each sample, drawn at random; time and memory grow with its square.
    seed : int
        Random seed of this draw.

    Returns
    -------
    float
        θ, from 0 to `largest_share`.

    References
    ----------
    .. [1] H. Ramaswamy, C. Scott, A. Tewari, "Mixture Proportion Estimation via Kernel Embeddings of Distributions", ICML, 2016.
       https://arxiv.org/abs/1603.02501

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, rest = rng.normal(0, 1, (200, 2)), rng.normal(6, 1, (100, 2))
    >>> round(kernel_mean(positive, np.concatenate([rng.normal(0, 1, (100, 2)), rest])), 1)
    0.5
    """
    positive, unlabeled = check_paired_features(positive, unlabeled)
    check_number("largest_share", largest_share, high=1, open_low=True, open_high=True)
    rng, n_points = np.random.default_rng(check_integer("seed", seed)), check_integer("n_points", n_points, 2)
    unlabeled, positive = (_subsample(rows, n_points, rng) for rows in (unlabeled, positive))
    n_u, n_p = len(unlabeled), len(positive)
    kernel = _select_kernel(_reduce_columns(np.concatenate([unlabeled, positive]), seed), n_u)
    mixture, component = np.repeat([1 / n_u, 0.0], [n_u, n_p]), np.repeat([0.0, 1 / n_p], [n_u, n_p])
    difference = mixture - component
    pull = kernel @ difference
    separation = np.sqrt(max(float(difference @ pull), 0.0))
    if separation < _EPS:
        return largest_share
    nearest = mixture

    def remainder(theta: float) -> tuple[float, float]:
        """Return d(λ) and d′(λ) of the remainder without a proportion theta of positives."""
        nonlocal nearest  # a good starting point for the next theta
        excess = theta / (1 - theta)  # λ − 1
        signed = mixture + excess * difference
        negligible = (0.1 * excess * separation) ** 2
        nearest = nearest_mean(kernel, signed, nearest, negligible=negligible, tolerance=_DISTANCE_TOLERANCE)
        residual = signed - nearest
        distance = np.sqrt(max(float(residual @ kernel @ residual), 0.0))
        return distance, float(residual @ pull) / distance if distance > 0 else 0.0

    threshold = 1 / np.sqrt(min(n_u, n_p))
    if threshold > 0.9 * separation:
        threshold = 0.8 * remainder(1 - 1 / 1.05)[0] / 0.05 + 0.2 * separation
    low, high = 0.0, largest_share
    while high - low > _PROPORTION_TOLERANCE:
        middle = (low + high) / 2
        if remainder(middle)[1] > threshold:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _subsample(rows: FloatArray, n_rows: int, rng: np.random.Generator) -> FloatArray:
    return rows if len(rows) <= n_rows else rows[np.sort(rng.choice(len(rows), n_rows, replace=False))]


def _reduce_columns(rows: FloatArray, seed: int) -> FloatArray:
    rows = rows / (np.abs(rows).max() or 1.0)  # squares of tiny numbers would underflow
    if rows.shape[1] <= _MAX_COLUMNS:
        return rows
    reduced: FloatArray = PCA(min(_MAX_COLUMNS, len(rows)), random_state=seed).fit_transform(rows)
    return reduced


def _select_kernel(rows: FloatArray, n_u: int) -> FloatArray:
    """Return the Gaussian kernel (n, n) whose width maximizes the distance between the first `n_u` rows and the others."""
    squares = pdist(rows, "sqeuclidean")
    if not squares.any():
        raise FeatureError(
            "all rows, positive and unlabeled, have the same features; expected rows that differ: check how X was read."
        )
    squares = squareform(squares / np.median(squares[squares > 0]))
    kernels = (np.exp(-squares / (2 * width * width)) for width in _WIDTHS)
    return max(kernels, key=lambda kernel: _squared_distance(kernel, n_u))


def _squared_distance(kernel: FloatArray, n_u: int) -> float:
    """Return an unbiased estimate of the squared distance between two distributions: no row is compared with itself."""
    n_p = len(kernel) - n_u
    within_u = (kernel[:n_u, :n_u].sum() - n_u) / max(n_u * (n_u - 1), 1)
    within_p = (kernel[n_u:, n_u:].sum() - n_p) / max(n_p * (n_p - 1), 1)
    return float(within_u + within_p - 2 * kernel[:n_u, n_u:].mean())


@renamed_parameters(unlabelled="unlabeled")
@dataclass(frozen=True, kw_only=True)
class KernelMean(FeatureEstimator):
    """1 − π_k = θ_k, the largest proportion of "not k" rows that the unlabeled rows can contain.

    Kernel mean matching (KM2) [1]_: the features of rows that exclude class k and of unlabeled rows are compared by their means
    in the feature space of a Gaussian kernel. Nothing is trained.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows are unlabeled; see `BestBin`.
    n_points : int
        Maximum number of rows of each of the two samples; time and memory grow with its square.
    n_rows : int
        Maximum number of rows to draw both samples from; more are subsampled at random.
    bootstrap, shrink, seed
        See `PriorEstimator`; here `bootstrap` is 0 by default.

    See Also
    --------
    Tice : The other estimator that compares features, by decision trees.
    BestBin : The default estimator.
    PriorEstimator : The base class, with `estimate`.

    References
    ----------
    .. [1] H. Ramaswamy, C. Scott, A. Tewari, "Mixture Proportion Estimation via Kernel Embeddings of Distributions", ICML, 2016.
       https://arxiv.org/abs/1603.02501

    Examples
    --------
    >>> from scarce.simulate import scar
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(3, 600, p=[0.2, 0.3, 0.5])
    >>> X = 4 * np.eye(3)[y] + rng.normal(size=(600, 3))
    >>> estimate = KernelMean(n_points=300).estimate(X, scar(y, c=0.5))
    >>> bool(np.abs(estimate.values - [0.2, 0.3, 0.5]).max() < 0.1)
    True
    """

    name: ClassVar[str] = "kernel-mean"

    unlabeled: Unlabeled = "all"
    n_points: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unlabeled(self.unlabeled)

    def raw(self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return π_k of every class, of shape (q,); columns beyond 50 are reduced once for all classes."""
        return super().raw([_reduce_columns(statistics[0], self.seed)], excluded, rates)

    def prior(self, features: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k by `kernel_mean`, searching θ up to 1 − 1/400: enough for a hundred classes."""
        rest = features if self.unlabeled == "all" else features[~excluded]
        proportion = kernel_mean(
            features[excluded], rest, largest_share=1 - 1 / 400, n_points=self.n_points, seed=self.seed
        )
        return priors_from_mixture(proportion, rate, self.unlabeled)


def check_paired_features(positive: Any, unlabeled: Any) -> tuple[FloatArray, FloatArray]:
    """Return the features of both samples as arrays, or raise `FeatureError` if their columns differ.

    Examples
    --------
    >>> check_paired_features([[1.0]], [[1.0, 2.0]])
    Traceback (most recent call last):
    scarce.errors.FeatureError: positives have 1 columns and unlabeled rows 2; expected the same features: pass ...
    """
    positive = check_numbers(positive, "the features of positives", ndim=2, error=FeatureError)
    unlabeled = check_numbers(unlabeled, "the features of unlabeled rows", ndim=2, error=FeatureError)
    if positive.shape[1] != unlabeled.shape[1]:
        raise FeatureError(
            f"positives have {positive.shape[1]} columns and unlabeled rows {unlabeled.shape[1]}; "
            "expected the same features: pass both from one table."
        )
    return positive, unlabeled
