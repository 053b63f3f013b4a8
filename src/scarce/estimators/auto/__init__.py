"""The automatic default: train learners under several mechanisms, score them on held-out labels, and stack the best."""

from scarce.estimators.auto.choice import Candidate, Choice
from scarce.estimators.auto.fit import StackResult, fit_stack

__all__ = ["Candidate", "Choice", "StackResult", "fit_stack"]
