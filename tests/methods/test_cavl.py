"""CAVL: which candidate it chooses."""

from helpers.methods import batch_of, double, prepared_method
from torch import nn

from scarce.labels import ComplementaryLabels


def test_cavl_chooses_most_active_candidate():
    """|f − 1| f is not monotone between 0 and 1, and negative logits do not lose to an excluded class."""
    labels = ComplementaryLabels.from_single([2, 2], classes=3)
    method = prepared_method("cavl", labels)
    method.after_step(nn.Identity(), batch_of(labels, inputs=double([[0.5, 0.9, 5.0], [-3.0, -2.0, 1.0]])))
    assert method.confidence.tolist() == [[1, 0, 0], [0, 1, 0]]
