"""Class priors: given, computed from answers, or estimated from complementary labels, and always checked against the labels."""

from scarce.labels._candidate_shares import candidate_shares
from scarce.priors.base import PriorEstimator
from scarce.priors.best_bin import BestBin
from scarce.priors.dedpul import Dedpul
from scarce.priors.elkan_noto import ElkanNoto
from scarce.priors.estimate import PriorEstimate
from scarce.priors.from_labels import feasible_priors, priors_from_answers
from scarce.priors.io import load_priors
from scarce.priors.kernel_mean import KernelMean
from scarce.priors.perturbation import PriorSensitivity, perturb_priors, prior_sensitivity
from scarce.priors.registry import PRIOR_ESTIMATORS, make_estimator
from scarce.priors.resolve import resolve_priors
from scarce.priors.tice import Tice

__all__ = [
    "PRIOR_ESTIMATORS",
    "BestBin",
    "Dedpul",
    "ElkanNoto",
    "KernelMean",
    "PriorEstimate",
    "PriorEstimator",
    "PriorSensitivity",
    "Tice",
    "candidate_shares",
    "feasible_priors",
    "load_priors",
    "make_estimator",
    "perturb_priors",
    "prior_sensitivity",
    "priors_from_answers",
    "resolve_priors",
]
