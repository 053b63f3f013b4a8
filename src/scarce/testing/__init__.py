"""Contract tests for estimators and methods, including those of other packages."""

from scarce.testing._blobs import three_blobs
from scarce.testing.estimator_checks import check_complementary_estimator, complementary_estimator_checks
from scarce.testing.method_checks import check_method, method_checks

__all__ = [
    "check_complementary_estimator",
    "check_method",
    "complementary_estimator_checks",
    "method_checks",
    "three_blobs",
]
