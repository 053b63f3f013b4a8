"""The estimators of class priors by name."""

from scarce.priors.base import PriorEstimator
from scarce.priors.best_bin import BestBin
from scarce.priors.dedpul import Dedpul
from scarce.priors.elkan_noto import ElkanNoto
from scarce.priors.kernel_mean import KernelMean
from scarce.priors.tice import Tice

__all__ = ["PRIOR_ESTIMATORS"]

PRIOR_ESTIMATORS: dict[str, type[PriorEstimator]] = {
    estimator.name: estimator for estimator in (BestBin, Dedpul, ElkanNoto, KernelMean, Tice)
}
