"""Perturb class priors, and measure how much accuracy wrong priors cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scarce._arrays import FloatArray
from scarce._validation import check_integer, check_number, check_numbers
from scarce.errors import MethodError, PriorError
from scarce.labels._targets import as_labels
from scarce.priors.estimate import to_simplex

_MIN_FACTOR = 1e-3
_FLOOR = 1e-6


def perturb_priors(priors: Any, sigma: float, seed: int = 0) -> FloatArray:
    """π_k ← ξ_k π_k / Σ_j ξ_j π_j, with ξ_k ~ N(1, σ²).

    Perturb priors as in the sensitivity analysis of the SCARCE paper [1]_. The paper does not say what happens if ξ_k is negative;
    here, factors are at least 0.001, so that every prior stays positive.

    Parameters
    ----------
    priors : array of shape (q,)
        π, or numbers proportional to it.
    sigma : float
        σ, the standard deviation of the factors; 0 changes nothing.
    seed : int
        Random seed. For a given seed, ξ − 1 is proportional to σ.

    Returns
    -------
    array of shape (q,)
        Perturbed priors, summing to one.

    See Also
    --------
    scarce.priors.prior_sensitivity : The accuracy of an estimator under perturbed priors.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu, M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML, 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> perturb_priors([0.2, 0.8], sigma=0.0).tolist()
    [0.2, 0.8]
    >>> perturb_priors([0.25, 0.25, 0.5], sigma=0.5, seed=1).round(3).tolist()
    [0.239, 0.287, 0.474]
    """
    values = check_numbers(priors, "the priors")
    if (values < 0).any() or not values.any():
        raise PriorError(
            f"the priors range from {values.min():g} to {values.max():g}; expected at least 0, and not all zero: correct "
            "them."
        )
    check_number("sigma", sigma)
    factors = np.maximum(
        1 + sigma * np.random.default_rng(check_integer("seed", seed)).standard_normal(len(values)),
        _MIN_FACTOR,
    )
    perturbed: FloatArray = factors * values
    perturbed /= perturbed.sum()
    return perturbed


@dataclass(frozen=True)
class PriorSensitivity:
    """Accuracy of an estimator under perturbed priors.

    Attributes
    ----------
    sigmas : array of shape (s,)
        Standard deviations σ of the factors.
    scores : array of shape (s, draws)
        The score of every fit.
    priors : array of shape (s, draws, q)
        The perturbed priors of every fit.

    Examples
    --------
    >>> result = PriorSensitivity(np.array([0.0, 0.5]), np.array([[0.9, 0.9], [0.8, 0.6]]), np.full((2, 2, 2), 0.5))
    >>> result.scores.mean(axis=1).round(2).tolist()  # mean accuracy per σ
    [0.9, 0.7]
    """

    sigmas: FloatArray
    scores: FloatArray
    priors: FloatArray


def prior_sensitivity(
    estimator: Any,
    X: Any,
    labels: Any,
    X_test: Any,
    y_test: Any,
    priors: Any,
    *,
    sigmas: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    draws: int = 3,
    seed: int = 0,
    callback: Callable[[float, int, float], None] | None = None,
) -> PriorSensitivity:
    """Fit and score an estimator repeatedly with priors perturbed by `perturb_priors`.

    Perturbed priors that contradict the labels (π_k > 1 − π̄_k) are clipped to what the labels allow.

    Parameters
    ----------
    estimator : estimator with a parameter ``priors``
        Cloned for every fit.
    X : array or sparse matrix
        Training features, one row per example.
    labels : ComplementaryLabels or n × q indicator
        Training labels.
    X_test, y_test : array, array of shape (n_test,)
        Test features and true classes, for `score`.
    priors : array of shape (q,)
        The true priors.
    sigmas : sequence of float
        Standard deviations of the factors; see `perturb_priors`.
    draws : int
        Number of perturbations for each σ; every σ scales the same draws of ξ − 1.
    seed : int
        Random seed of the perturbations.
    callback : callable, optional
        Called after every fit with σ, the index of the draw and the score.

    Returns
    -------
    PriorSensitivity
        The score and the priors of every fit.

    Examples
    --------
    >>> from scarce import ScarceClassifier
    >>> from scarce.testing import three_blobs
    >>> X, y, labels = three_blobs()
    >>> linear = ScarceClassifier(module="linear", epochs=40, learning_rate=0.03)
    >>> found = prior_sensitivity(linear, X, labels, X, y, [1 / 3] * 3, sigmas=[0.0, 0.5], draws=2)
    >>> found.scores.shape
    (2, 2)
    """
    if "priors" not in estimator.get_params():
        raise MethodError(
            f"{type(estimator).__name__} has no parameter priors to perturb; pass an estimator that has one, such as "
            "ScarceClassifier()."
        )
    check_integer("draws", draws, low=1)
    rates = as_labels(labels).rates
    used = np.array(
        [
            [
                to_simplex(perturb_priors(priors, sigma, seed + draw), rates, floor=_FLOOR)
                for draw in range(draws)
            ]
            for sigma in sigmas
        ]
    )
    scores = np.empty(used.shape[:2])
    for row, sigma in enumerate(sigmas):
        for draw in range(draws):
            fitted = clone(estimator).set_params(priors=used[row, draw]).fit(X, labels)
            scores[row, draw] = fitted.score(X_test, y_test)
            if callback is not None:
                callback(sigma, draw, scores[row, draw])
    return PriorSensitivity(np.array(sigmas, dtype=float), scores, used)
