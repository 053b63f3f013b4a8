"""Class priors: given, read from answers, checked against the labels."""

from scarce.priors.answers import priors_from_answers
from scarce.priors.estimate import PriorEstimate
from scarce.priors.resolve import resolve_priors

__all__ = ["PriorEstimate", "priors_from_answers", "resolve_priors"]
