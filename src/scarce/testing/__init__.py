"""Contracts to test estimators and methods against: ours, and those of other packages."""

from scarce.testing.blobs import three_blobs
from scarce.testing.estimators import check_complementary_estimator, complementary_estimator_checks
from scarce.testing.methods import check_method, method_checks

__all__ = [
    "check_complementary_estimator",
    "check_method",
    "complementary_estimator_checks",
    "method_checks",
    "three_blobs",
]
