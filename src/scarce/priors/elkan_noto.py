"""Elkan and Noto's estimate: the mean probability of "labelled" that a calibrated model gives to labelled rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from scarce._arrays import FloatArray
from scarce._validation import check_number, check_numbers
from scarce.errors import PriorError
from scarce.priors.score_based import ScoredEstimator

__all__ = ["ElkanNoto", "elkan_noto"]


def elkan_noto(positive_probabilities: Any, rate: float) -> float:
    """Estimate the proportion 1 − π of positives among all rows (Elkan and Noto, 2008).

    A model of p(labelled | x) gives c, the fraction of positives that are labelled, on every positive, so

        c = mean over held-out labelled rows of p(labelled | x),    1 − π = π̄ / c,

    at most 1. It is right if the model is calibrated and no example could be either.

    Parameters
    ----------
    positive_probabilities : array of shape (n,)
        p(labelled | x) of labelled rows that the model was not trained on.
    rate : float
        π̄, the fraction of all rows that are labelled.

    Examples
    --------
    >>> elkan_noto([0.4, 0.6, 0.5], rate=0.25)
    0.5
    """
    probabilities = check_numbers(positive_probabilities, "the probabilities of labelled rows")
    if probabilities.min() < 0 or probabilities.max() > 1:
        raise PriorError(
            f"the probabilities of labelled rows go from {probabilities.min():g} to {probabilities.max():g}; expected 0 to 1: "
            "apply the sigmoid to logits first."
        )
    check_number("rate", rate, high=1, open_low=True)
    frequency = float(probabilities.mean())
    return 1.0 if frequency <= rate else float(rate) / frequency


@dataclass(frozen=True, kw_only=True)
class ElkanNoto(ScoredEstimator):
    """1 − π_k = π̄_k / c_k, c_k the mean of p(excludes k | x) over held-out rows that exclude k; see `elkan_noto`.

    Examples
    --------
    >>> ElkanNoto(scorer="linear").name
    'elkan-noto'
    """

    name: ClassVar[str] = "elkan-noto"

    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Turn log density ratios into probabilities, with the share of rows that exclude k."""
        return 1 - elkan_noto(expit(scores[excluded] + logit(rate)), rate)
