"""Multi-class losses L(f, k) of all classes k. Each maps logits of shape (n, q) to losses of the same shape."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce._validation import check_option

MulticlassLoss = Callable[[Tensor], Tensor]

_GCE_EXPONENT = 0.7
_PHUBER_THRESHOLD = 10.0


def cce(logits: Tensor) -> Tensor:
    """Cross-entropy: −log p_k."""
    return -log_softmax(logits, dim=1)


def mae(logits: Tensor) -> Tensor:
    """Mean absolute error, ‖p − e_k‖₁ = 2 − 2 p_k."""
    return 2 - 2 * torch.softmax(logits, dim=1)


def mse(logits: Tensor) -> Tensor:
    """Squared error, ‖p − e_k‖² = 1 − 2 p_k + Σ p²."""
    p = torch.softmax(logits, dim=1)
    return 1 - 2 * p + (p**2).sum(dim=1, keepdim=True)


def gce(logits: Tensor) -> Tensor:
    """Generalized cross-entropy: (1 − p_k^0.7) / 0.7."""
    return (1 - torch.exp(_GCE_EXPONENT * log_softmax(logits, dim=1))) / _GCE_EXPONENT


def phuber(logits: Tensor) -> Tensor:
    """Partially Huberized cross-entropy: −log p_k for p_k > 1/τ, and its tangent log τ + 1 − τ p_k below, with τ = 10."""
    logp = log_softmax(logits, dim=1)
    log_threshold = math.log(_PHUBER_THRESHOLD)
    return torch.where(logp > -log_threshold, -logp, log_threshold + 1 - _PHUBER_THRESHOLD * logp.exp())


MULTICLASS_LOSSES: dict[str, MulticlassLoss] = {
    "cce": cce,
    "mae": mae,
    "mse": mse,
    "gce": gce,
    "phuber": phuber,
}


def multiclass_loss(name: str) -> MulticlassLoss:
    """Return the multi-class loss L of that name; ``gce`` is from [1]_, ``phuber`` from [2]_.

    Parameters
    ----------
    name : {"cce", "mae", "mse", "gce", "phuber"}
        A key of `MULTICLASS_LOSSES`.

    Returns
    -------
    callable
        L; maps logits of shape (n, q) to the losses L(f, k) of all classes, of the same shape.

    Raises
    ------
    MethodError
        If there is no loss of that name.

    See Also
    --------
    binary_loss : Losses for one class against the rest.
    multiclass_scarce_risk : The risk with such a loss.

    References
    ----------
    .. [1] Z. Zhang and M. R. Sabuncu, "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy Labels",
       NeurIPS 2018. https://arxiv.org/abs/1805.07836
    .. [2] A. K. Menon, A. S. Rawat, S. J. Reddi and S. Kumar, "Can Gradient Clipping Mitigate Label Noise?", ICLR 2020.
       https://openreview.net/forum?id=rklB76EKPr

    Examples
    --------
    >>> multiclass_loss("mae")(torch.zeros(1, 2)).tolist()
    [[1.0, 1.0]]
    """
    check_option("loss", name, MULTICLASS_LOSSES)
    return MULTICLASS_LOSSES[name]
