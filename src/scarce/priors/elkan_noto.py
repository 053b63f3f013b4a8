"""The Elkan-Noto estimate of class priors, from the mean of p(labeled | x) over labeled rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from scarce._arrays import FloatArray
from scarce._validation import check_number, check_numbers
from scarce.errors import PriorError
from scarce.priors._score_based import ScoredEstimator


def elkan_noto(positive_probabilities: Any, rate: float) -> float:
    """Estimate the proportion 1 − π of positives among all rows by the method of Elkan and Noto [1]_.

    Under SCAR, p(labeled | x) equals c, the fraction of positives that are labeled, for every positive x. So

        c = mean over held-out labeled rows of p(labeled | x),    1 − π = min(1, π̄ / c).

    This is accurate only if the model is calibrated and the classes do not overlap.

    Parameters
    ----------
    positive_probabilities : array of shape (n,)
        p(labeled | x) of labeled rows that the model was not trained on.
    rate : float
        π̄, the fraction of all rows that are labeled.

    Returns
    -------
    float
        1 − π, at most 1.

    References
    ----------
    .. [1] C. Elkan, K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD, 2008.
       https://doi.org/10.1145/1401890.1401920

    Examples
    --------
    >>> elkan_noto([0.4, 0.6, 0.5], rate=0.25)
    0.5
    """
    probabilities = check_numbers(positive_probabilities, "the probabilities of labeled rows")
    if probabilities.min() < 0 or probabilities.max() > 1:
        raise PriorError(
            f"the probabilities of labeled rows range from {probabilities.min():g} to {probabilities.max():g}; expected 0 to 1: "
            "apply the sigmoid to logits first."
        )
    check_number("rate", rate, high=1, open_low=True)
    frequency = float(probabilities.mean())
    return 1.0 if frequency <= rate else float(rate) / frequency


@dataclass(frozen=True, kw_only=True)
class ElkanNoto(ScoredEstimator):
    """1 − π_k = π̄_k / c_k, where c_k is the mean of p(excludes k | x) over held-out rows that exclude k.

    The method of Elkan and Noto [1]_: c_k is the probability that a row of another class excludes k. It needs calibrated scores;
    where classes overlap, 1 − π_k is too large.

    Parameters
    ----------
    scorer, folds, last, module, recipe
        How the probabilities are computed; see `BestBin`.
    bootstrap, shrink, seed
        See `PriorEstimator`.

    See Also
    --------
    BestBin : The default estimator, which needs no calibration.
    scarce.ElkanNotoClassifier : Train a positive-unlabeled classifier by the same idea.
    PriorEstimator : The base class, with `estimate`.

    References
    ----------
    .. [1] C. Elkan, K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD, 2008.
       https://doi.org/10.1145/1401890.1401920

    Examples
    --------
    >>> from scarce.simulate import scar
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(3, 3000, p=[0.2, 0.3, 0.5])
    >>> X = 6 * np.eye(3)[y] + rng.normal(size=(3000, 3))
    >>> ElkanNoto(scorer="linear", bootstrap=0).estimate(X, scar(y, c=0.5)).values.round(1).tolist()
    [0.2, 0.3, 0.5]
    """

    name: ClassVar[str] = "elkan-noto"

    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k by `elkan_noto`, with p(excludes k | x) = σ(score + logit π̄_k)."""
        return 1 - elkan_noto(expit(scores[excluded] + logit(rate)), rate)
