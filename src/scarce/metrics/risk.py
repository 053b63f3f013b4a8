"""The risk of a classifier over whole data, from complementary labels alone."""

import operator
from typing import Any

import numpy as np
import torch

from scarce._validation import check_priors
from scarce.labels import ComplementaryLabels
from scarce.metrics._blocks import iter_blocks
from scarce.risk import ClassSums, class_risks, class_sums, signed_losses

__all__ = ["complementary_risk"]


def complementary_risk(
    logits: Any, labels: ComplementaryLabels, priors: Any, *, loss: str = "sigmoid"
) -> float:
    """Estimate the one-versus-rest risk Σ_k (P_k + Q_k), without correction, from all examples at once.

    Unbiased under SCAR, and negative when a model has overfitted its training data. Classes that no example excludes
    are left out.

    Parameters
    ----------
    logits : array of shape (n, q)
        Scores of the classifier.
    labels : ComplementaryLabels
        Of the same examples.
    priors : array of q numbers
        π.
    loss : str
        A binary loss; the bounded default has the smallest variance.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=2)
    >>> round(complementary_risk([[-9.0, 9.0], [9.0, -9.0]], labels, [0.5, 0.5]), 3)
    0.0
    """
    total: ClassSums | None = None
    for scores, rows, columns in iter_blocks(logits, labels, "logits"):
        excluded = np.zeros_like(scores)
        excluded[rows, columns] = 1
        sums = class_sums(*signed_losses(loss, torch.tensor(scores)), torch.from_numpy(excluded))
        total = sums if total is None else ClassSums(*map(operator.add, total, sums))
    assert total is not None
    risks = class_risks(total, torch.from_numpy(check_priors(priors, labels.classes)))
    return float((risks.positive + risks.negative).sum())
