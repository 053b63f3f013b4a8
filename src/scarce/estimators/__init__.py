"""The scikit-learn face."""

from scarce.estimators.classifier import ScarceClassifier
from scarce.estimators.elkan_noto import ElkanNotoClassifier
from scarce.estimators.meta import MetaComplementaryClassifier
from scarce.estimators.persistence import load

__all__ = ["ElkanNotoClassifier", "MetaComplementaryClassifier", "ScarceClassifier", "load"]
