"""Evaluate a classifier: accuracy, risk and selection criteria from complementary labels alone; calibration from true labels.

Everywhere, n is the number of examples and q the number of classes.
"""

from scarce.metrics.accuracy import AccuracyEstimate, complementary_accuracy
from scarce.metrics.alarms import Alarm
from scarce.metrics.calibration import (
    Reliability,
    expected_calibration_error,
    reliability,
    reliability_figure,
)
from scarce.metrics.co_exclusion import CoExclusion, co_exclusion_test
from scarce.metrics.criteria import approximated_accuracy, covering_rate, scel, transition_risk
from scarce.metrics.intervals import wilson_interval
from scarce.metrics.label_model import ErrorRates, LabelModel, fit_label_model
from scarce.metrics.report import ComplementaryReport, complementary_report
from scarce.metrics.risk import complementary_risk
from scarce.metrics.scorer import make_complementary_scorer

__all__ = [
    "AccuracyEstimate",
    "Alarm",
    "CoExclusion",
    "ComplementaryReport",
    "ErrorRates",
    "LabelModel",
    "Reliability",
    "approximated_accuracy",
    "co_exclusion_test",
    "complementary_accuracy",
    "complementary_report",
    "complementary_risk",
    "covering_rate",
    "expected_calibration_error",
    "fit_label_model",
    "make_complementary_scorer",
    "reliability",
    "reliability_figure",
    "scel",
    "transition_risk",
    "wilson_interval",
]
