"""L-UW and L-W: predict the excluded class with softmax(1 − p)."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

_PAPER = "Gao and Zhang, ICML 2021"
_URL = "https://proceedings.mlr.press/v139/gao21d.html"
_ASSUMES = "nothing stated"


def discriminative_losses(logits: Tensor, k: Tensor, *, weighted: bool) -> Tensor:
    """−log q̃_k with q̃ = softmax(1 − p) and p = softmax(f), times 1 + (1 − p_k)/(q − 1) if weighted.

    The inputs of the outer softmax lie in [0, 1], so the loss is bounded and its gradients are weak.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair.
    k : Tensor of shape (n,)
        The excluded class of each row.
    weighted : bool
        Whether to weight the loss (L-W) or not (L-UW).

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> round(discriminative_losses(torch.zeros(1, 3), torch.tensor([0]), weighted=False).item(), 4)
    1.0986
    """
    p = torch.softmax(logits, dim=1)
    losses = -log_softmax(1 - p, dim=1).gather(1, k[:, None]).squeeze(1)
    if not weighted:
        return losses
    return losses * (1 + (1 - p.gather(1, k[:, None]).squeeze(1)) / (logits.shape[1] - 1))


@register
class DiscriminativeUnweighted(PairMethod):
    """Mean −log softmax(1 − p)_k over the pairs, p = softmax(f) and k the excluded class.

    The cross-entropy of the excluded class, with class probabilities computed from 1 − p [1]_ (L-UW).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    DiscriminativeWeighted : The weighted loss of the same paper.
    SurrogateNegativeLearning : −log(1 − p_k).
    scarce.functional.discriminative_loss : The loss as a function.

    References
    ----------
    .. [1] Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss", ICML 2021.
       https://proceedings.mlr.press/v139/gao21d.html

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("l-uw")
    DiscriminativeUnweighted(pairs=False)
    """

    facts = MethodFacts("l-uw", "discriminative, unweighted", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log softmax(1 − p)_k."""
        return discriminative_losses(logits, k, weighted=False)


@register
class DiscriminativeWeighted(PairMethod):
    """Mean −(1 + w_k) log softmax(1 − p)_k over the pairs, w_k = (1 − p_k)/(q − 1), p = softmax(f) and k the excluded class.

    L-UW with a larger weight where the excluded class already has a low probability [1]_ (L-W).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    DiscriminativeUnweighted : The same loss without weights.
    scarce.functional.discriminative_loss : The loss as a function.

    References
    ----------
    .. [1] Y. Gao and M.-L. Zhang, "Discriminative Complementary-Label Learning with Weighted Loss", ICML 2021.
       https://proceedings.mlr.press/v139/gao21d.html

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("l-w", pairs=True)
    DiscriminativeWeighted(pairs=True)
    """

    facts = MethodFacts("l-w", "discriminative, weighted", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−(1 + w_k) log softmax(1 − p)_k."""
        return discriminative_losses(logits, k, weighted=True)
