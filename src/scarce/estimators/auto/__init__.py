"""The automatic default: learners × mechanisms, scored by the likelihood of held-out labels, and a stack of the best."""

from scarce.estimators.auto.choice import Candidate, Choice
from scarce.estimators.auto.fit import StackResult, fit_stack

__all__ = ["Candidate", "Choice", "StackResult", "fit_stack"]
