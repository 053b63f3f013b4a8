"""DEDPUL: the proportion of positives, from a smoothed ratio of score densities."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, median_filter

from scarce._arrays import FloatArray
from scarce._validation import check_numbers, renamed_parameters
from scarce.errors import PriorError
from scarce.priors._score_based import ScoredEstimator
from scarce.risk._mixture_proportion import Unlabeled, check_unlabeled, priors_from_mixture

_POSITIVE_WIDTH, _UNLABELED_WIDTH = 0.1, 0.05  # of the kernels, in standard deviations of the scores
_CELLS_PER_WIDTH = 10  # histogram cells per kernel width
_KERNEL_WIDTHS = 6  # widths from its center at which a kernel is cut off
_MAX_POINTS = 2000  # order statistics that represent all unlabeled scores
_MAX_RATIO = 50.0
_GRID_STEP = 0.001
_MAX_EXCESS = 0.05  # of θ over its mean posterior
_TOLERANCE, _MAX_ITERATIONS = 1e-5, 1000


def dedpul(positive: Any, unlabeled: Any) -> float:
    """Estimate the proportion θ of positives among unlabeled rows with DEDPUL [1]_.

    Let r = f_P / f_U be the ratio of the score densities of positive and unlabeled rows. The posterior probability that an
    unlabeled row is positive is min(1, θ r), and its mean is θ. The iteration

        θ ← mean_U min(1, θ r),    from θ = 1,

    decreases to the largest fixed point. If the estimated ratio is too small on average, there is no fixed point, and the
    iteration falls below the true θ. At the true θ, however, θ − mean_U min(1, θ r) has a kink, where its second difference is
    largest; if the kink is at a larger θ than the iteration found, it is returned instead.

    The densities are Gaussian kernel density estimates. r is clipped to at most 50, smoothed by running medians, and made
    non-decreasing above the midpoint of the two mean scores, where the positives are.

    Parameters
    ----------
    positive, unlabeled : arrays of shape (n_P,) and (n_U,)
        Scores of rows that the scorer was not trained on: logits, or on a similar scale, higher for positives.

    Returns
    -------
    float
        θ, from 0 to 1.

    References
    ----------
    .. [1] D. Ivanov, "DEDPUL: Difference-of-Estimated-Densities-based Positive-Unlabeled Learning", ICMLA, 2020.
       https://arxiv.org/abs/1902.06965

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(3, 1, 1500), rng.normal(-3, 1, 500)
    >>> round(dedpul(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.5
    """
    ratios = _density_ratios(
        check_numbers(positive, "the scores of positives"),
        check_numbers(unlabeled, "the scores of unlabeled rows"),
    )
    theta = 1.0
    for _ in range(_MAX_ITERATIONS):
        posterior = float(mean_posterior(theta, ratios))
        if theta - posterior < _TOLERANCE or theta * ratios.max() < 1:
            break
        theta = posterior
    if theta - posterior > _MAX_EXCESS:  # no posterior reaches 1, so this is not a fixed point
        theta = 0.0
    grid = np.arange(_GRID_STEP, 1.0 + _GRID_STEP / 2, _GRID_STEP)
    excess = grid - mean_posterior(grid, ratios)
    if theta > _GRID_STEP and (excess < 0).sum() > 1:  # a fixed point
        return theta
    second_differences = np.where(excess[1:-1] < _MAX_EXCESS, np.diff(excess, 2).round(12), -np.inf)
    return max(theta, float(grid[1 + int(np.argmax(second_differences))]))


def mean_posterior(proportions: float | FloatArray, ratios: FloatArray) -> FloatArray:
    """Return mean min(1, θ r) for each proportion θ.

    Examples
    --------
    >>> float(mean_posterior(0.5, np.array([4.0, 0.0, 2.0, 1.0])))
    0.625
    """
    increasing = np.sort(ratios)
    sums = np.concatenate([[0.0], np.cumsum(increasing)])
    unsure = np.searchsorted(increasing, 1 / np.asarray(proportions))  # number of θ r below 1
    means: FloatArray = (proportions * sums[unsure] + len(increasing) - unsure) / len(increasing)
    return means


def _density_ratios(positive: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Return f_P / f_U at the unlabeled scores in increasing order, smoothed; at most 2000 of them."""
    for scores, sample in ((positive, "positives"), (unlabeled, "unlabeled rows")):
        if np.ptp(scores) <= max(1e-9 * np.abs(scores).max(), 1e-100):
            raise PriorError(
                f"the scores of {sample} are all {scores[0]:g}; expected scores that differ: train the scorer longer."
            )
    ranks = np.linspace(0, len(unlabeled) - 1, min(len(unlabeled), _MAX_POINTS)).round().astype(int)
    points = np.sort(unlabeled)[ranks]
    ratios = kernel_density(positive, _POSITIVE_WIDTH, points) / kernel_density(
        unlabeled, _UNLABELED_WIDTH, points
    )
    ratios = median_filter(np.minimum(ratios, _MAX_RATIO), 11, mode="nearest")
    upper = points >= (positive.mean() + unlabeled.mean()) / 2
    ratios[upper] = np.maximum.accumulate(ratios[upper])
    smooth: FloatArray = median_filter(ratios, 2 * (len(points) // 20) + 1, mode="nearest")
    return smooth


def kernel_density(scores: FloatArray, width: float, points: FloatArray) -> FloatArray:
    """Return the Gaussian kernel density estimate at `points`, computed from a histogram ten times finer than the kernel.

    Parameters
    ----------
    scores : array of shape (n,)
        The sample.
    width : float
        Standard deviation of the kernel, in standard deviations of the scores.
    points : array of shape (m,)
        Where to evaluate the density.
    """
    width *= scores.std(ddof=1)
    step = width / _CELLS_PER_WIDTH
    start = scores.min() - _KERNEL_WIDTHS * width
    cells = np.bincount(np.round((scores - start) / step).astype(int))
    counts = np.pad(cells, (0, _KERNEL_WIDTHS * _CELLS_PER_WIDTH)) / (len(scores) * step)
    density: FloatArray = np.interp(
        points,
        start + step * np.arange(len(counts)),
        gaussian_filter1d(counts, _CELLS_PER_WIDTH, mode="constant", truncate=_KERNEL_WIDTHS),
        left=0.0,
        right=0.0,
    )
    return density


@renamed_parameters(unlabelled="unlabeled")
@dataclass(frozen=True, kw_only=True)
class Dedpul(ScoredEstimator):
    """1 − π_k = θ_k, with θ_k = mean_U min(1, θ_k f_P / f_U).

    DEDPUL [1]_: f_P and f_U are the densities of the scores of held-out rows that exclude class k and of unlabeled rows, and θ_k
    is the fraction of "not k" among the unlabeled rows.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows are unlabeled; see `BestBin`.
    scorer, folds, last, module, recipe
        How the scores are computed; see `BestBin`.
    bootstrap, shrink, seed
        See `PriorEstimator`.

    See Also
    --------
    BestBin : The default estimator, which uses the same scores.
    PriorEstimator : The base class, with `estimate`.

    References
    ----------
    .. [1] D. Ivanov, "DEDPUL: Difference-of-Estimated-Densities-based Positive-Unlabeled Learning", ICMLA, 2020.
       https://arxiv.org/abs/1902.06965

    Examples
    --------
    >>> from scarce.simulate import scar
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(3, 600, p=[0.2, 0.3, 0.5])
    >>> X = 4 * np.eye(3)[y] + rng.normal(size=(600, 3))
    >>> Dedpul(scorer="linear", bootstrap=0).estimate(X, scar(y, c=0.5)).values.round(1).tolist()
    [0.2, 0.3, 0.5]
    """

    name: ClassVar[str] = "dedpul"

    unlabeled: Unlabeled = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unlabeled(self.unlabeled)

    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k by `dedpul`."""
        rest = scores if self.unlabeled == "all" else scores[~excluded]
        return priors_from_mixture(dedpul(scores[excluded], rest), rate, self.unlabeled)
