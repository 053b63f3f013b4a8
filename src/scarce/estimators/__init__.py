"""The scikit-learn face."""

from scarce.estimators.classifier import ScarceClassifier
from scarce.estimators.persistence import load

__all__ = ["ScarceClassifier", "load"]
