"""What is known: the container of complementary labels, its converters and readers (no torch here)."""

from scarce.labels.answers import Answers
from scarce.labels.container import ComplementaryLabels
from scarce.labels.summary import LabelSummary

__all__ = ["Answers", "ComplementaryLabels", "LabelSummary", "read_labels"]
