"""The automatic default: train learners under several mechanisms, score them on held-out labels, and stack the best."""

from scarce.estimators.auto.choice import Candidate, Choice
from scarce.estimators.auto.fit import fit_stack
from scarce.estimators.auto.images import fit_image_stack
from scarce.estimators.auto.result import StackResult

__all__ = ["Candidate", "Choice", "StackResult", "fit_image_stack", "fit_stack"]
