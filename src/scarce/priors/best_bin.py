"""Best Bin Estimation of class priors, as in the appendix of the paper."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import FloatArray
from scarce._validation import check_number, renamed_parameters
from scarce.priors.score_based import ScoredEstimator
from scarce.risk.mixture_proportion import Unlabeled, best_bin, check_unlabeled, priors_from_mixture

__all__ = ["BestBin"]


@renamed_parameters(unlabelled="unlabeled")
@dataclass(frozen=True, kw_only=True)
class BestBin(ScoredEstimator):
    """1 − π_k is the proportion of "not k" rows, read off where the scores are highest; see `scarce.risk.mixture_proportion`.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        From which rows: from all, where the share is 1 − π_k, or from those that do not exclude k, where it is
        1 − π_k / (1 − π̄_k).
    delta, gamma : float
        Confidence and slack of the bound.

    Examples
    --------
    >>> from scarce.simulate import scar
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(3, 600, p=[0.2, 0.3, 0.5])
    >>> X = 4 * np.eye(3)[y] + rng.normal(size=(600, 3))
    >>> estimate = BestBin(scorer="linear").estimate(X, scar(y, c=0.5))
    >>> estimate.values.round(1).tolist()
    [0.2, 0.3, 0.5]
    """

    name: ClassVar[str] = "best-bin"

    unlabeled: Unlabeled = "all"
    delta: float = 0.1
    gamma: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unlabeled(self.unlabeled)
        check_number("delta", self.delta, low=1e-6, high=1)
        check_number("gamma", self.gamma)

    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k from the best bin."""
        rest = scores if self.unlabeled == "all" else scores[~excluded]
        proportion = best_bin(scores[excluded], rest, delta=self.delta, gamma=self.gamma).mixture_proportion
        return priors_from_mixture(proportion, rate, self.unlabeled)
