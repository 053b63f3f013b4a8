"""The risk of a classifier over a whole data set, from complementary labels alone."""

import operator
from typing import Any

import numpy as np
import torch

from scarce._validation import check_priors
from scarce.labels import ComplementaryLabels
from scarce.metrics._blocks import iter_blocks
from scarce.risk import ClassSums, class_risks, class_sums, signed_losses


def complementary_risk(
    logits: Any, labels: ComplementaryLabels, priors: Any, *, loss: str = "sigmoid"
) -> float:
    """Σ_k { mean ℓ(f_k) − (1 − π_k) mean_{N_k} [ℓ(f_k) − ℓ(−f_k)] }, the uncorrected one-versus-rest risk of SCARCE [1]_.

    N_k are the examples that exclude class k; classes that no example excludes are left out. The first mean is over all examples.
    The risk is unbiased under SCAR. On training data, a negative value means that the model has overfitted.

    Parameters
    ----------
    logits : array of shape (n, q)
        f, the scores of the classifier.
    labels : ComplementaryLabels
        Labels of the same examples.
    priors : array of shape (q,)
        π.
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`; the default is bounded, so its variance is small.

    Returns
    -------
    float
        The risk; lower is better.

    See Also
    --------
    scarce.functional.scarce_risk : The risk of a batch, as a loss.
    complementary_accuracy : The accuracy instead of the risk.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

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
