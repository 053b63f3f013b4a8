"""Perturbed class priors, and how much wrong ones cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scarce._arrays import FloatArray
from scarce._validation import check_integer, check_number, check_numbers
from scarce.errors import MethodError, PriorError
from scarce.labels.targets import as_labels
from scarce.priors.estimate import to_simplex

__all__ = ["PriorSensitivity", "perturb_priors", "prior_sensitivity"]

_MIN_FACTOR = 1e-3
_FLOOR = 1e-6


def perturb_priors(priors: Any, sigma: float, seed: int = 0) -> FloatArray:
    """Return priors multiplied by noise and made to sum to one again, as in the paper's sensitivity analysis.

        π_k ← ξ_k π_k / Σ_j ξ_j π_j,    ξ_k ~ N(1, σ²).

    The paper does not say what becomes of a ξ_k below 0; here no factor is below 0.001, so that every class keeps
    a prior above 0.

    Parameters
    ----------
    priors : array of shape (q,)
        π, or numbers in its proportions.
    sigma : float
        Standard deviation of the factors; 0 changes nothing.
    seed : int
        Of the factors: those of the same seed deviate from 1 in proportion to `sigma`.

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
            f"the priors go from {values.min():g} to {values.max():g}; expected numbers of at least 0."
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
    """Scores under perturbed priors.

    Attributes
    ----------
    sigmas : array of shape (s,)
        Standard deviations of the factors of the priors.
    scores : array of shape (s, draws)
        The score of every fit.
    priors : array of shape (s, draws, q)
        The priors it was given.
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
    tell: Callable[[float, int, float], None] | None = None,
) -> PriorSensitivity:
    """Fit an estimator repeatedly with perturbed priors π_k ξ_k, ξ_k ~ N(1, σ²), and score it.

    Perturbed priors that the labels contradict (π_k > 1 − π̄_k) are cut to what they leave possible.

    Parameters
    ----------
    estimator : estimator with a parameter ``priors``
        Cloned for every fit.
    X, labels : array, ComplementaryLabels
        To learn from.
    X_test, y_test : array, array
        To score on.
    priors : array of shape (q,)
        The true priors.
    sigmas : sequence of float
        Standard deviations of the factors; see `perturb_priors`.
    draws : int
        The number of perturbations for each σ; the same draws of ξ are scaled by σ.
    seed : int
        Of the draws.
    tell : callable, optional
        Called after every fit with σ, the number of the draw and the score.

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
            f"{type(estimator).__name__} has no parameter priors, so that wrong ones cannot be tried."
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
            if tell is not None:
                tell(sigma, draw, scores[row, draw])
    return PriorSensitivity(np.array(sigmas, dtype=float), scores, used)
