"""Complementary labels: the container, its converters, and files. This package does not import torch."""

from scarce.labels.answers import Answers
from scarce.labels.container import ComplementaryLabels
from scarce.labels.io import read_labels, write_labels
from scarce.labels.io.label_studio import read_label_studio
from scarce.labels.io.prodigy import read_prodigy
from scarce.labels.summary import LabelSummary

__all__ = [
    "Answers",
    "ComplementaryLabels",
    "LabelSummary",
    "read_label_studio",
    "read_labels",
    "read_prodigy",
    "write_labels",
]
