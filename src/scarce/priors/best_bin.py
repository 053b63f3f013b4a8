"""Best Bin Estimation of class priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import FloatArray
from scarce._validation import check_number, renamed_parameters
from scarce.priors._score_based import ScoredEstimator
from scarce.risk._mixture_proportion import Unlabeled, best_bin, check_unlabeled, priors_from_mixture


@renamed_parameters(unlabelled="unlabeled")
@dataclass(frozen=True, kw_only=True)
class BestBin(ScoredEstimator):
    """1 − π_k = min_z q_U(z) / q_P(z), where z minimizes an upper confidence bound of the ratio.

    Best Bin Estimation (BBE) [1]_, the default estimator, which the SCARCE paper [2]_ also uses. A scorer learns to distinguish
    rows that exclude class k (P) from unlabeled rows (U); q_P(z) and q_U(z) are the fractions of held-out rows that score at
    least z. Where the scores are highest, all rows are "not k", and the ratio is the fraction of "not k" among the unlabeled rows.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows are unlabeled. ``"all"``: all rows, and the fraction of "not k" among them is 1 − π_k. ``"rest"``: those that do
        not exclude k, and the fraction is 1 − π_k / (1 − π̄_k).
    delta, gamma : float
        Confidence level δ and slack γ of the bound; see `scarce.risk.best_bin`.
    scorer, folds, last, module, recipe
        How the scores are computed:

        - `scorer`: ``"network"`` (one network with an output per class), ``"linear"`` or ``"boosting"`` (a classifier per class,
          for tables), or a scikit-learn classifier with `predict_proba`.
        - `folds`: 1 holds out a fifth of the rows; a larger number holds out every row once. By default 5 for fewer than 5,000 rows
          or fewer than 500 exclusions of some class, else 1.
        - `last`: average over this many of the latest epochs; by default, the epoch with the lowest held-out loss is used.
        - `module`, `recipe`: the network and its training; by default, an MLP, 10 annealed epochs, or more to reach 100 steps.
    bootstrap, shrink, seed
        See `PriorEstimator`.

    See Also
    --------
    Dedpul : Estimates the same proportion from a ratio of densities.
    ElkanNoto : Estimates it from calibrated probabilities.
    PriorEstimator : The base class, with `estimate`.

    References
    ----------
    .. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan, Z. C. Lipton, "Mixture Proportion Estimation and PU Learning: A Modern
       Approach", NeurIPS, 2021. https://arxiv.org/abs/2111.00980
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu, M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML, 2024. https://arxiv.org/abs/2311.15502

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
        """Return π_k by `best_bin`."""
        rest = scores if self.unlabeled == "all" else scores[~excluded]
        proportion = best_bin(scores[excluded], rest, delta=self.delta, gamma=self.gamma).mixture_proportion
        return priors_from_mixture(proportion, rate, self.unlabeled)
