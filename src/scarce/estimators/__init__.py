"""Scikit-learn classifiers that are trained on complementary labels."""

from scarce.estimators.classifier import ScarceClassifier
from scarce.estimators.cross_fitted_report import cross_fitted_report
from scarce.estimators.elkan_noto import ElkanNotoClassifier
from scarce.estimators.em_classifier import EMComplementaryClassifier
from scarce.estimators.meta_classifier import MetaComplementaryClassifier
from scarce.estimators.persistence import load

__all__ = [
    "EMComplementaryClassifier",
    "ElkanNotoClassifier",
    "MetaComplementaryClassifier",
    "ScarceClassifier",
    "cross_fitted_report",
    "load",
]
