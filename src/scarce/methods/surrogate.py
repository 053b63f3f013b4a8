"""SCL-NL and SCL-EXP: surrogates for the 0-1 loss on the excluded class."""

import torch
from torch import Tensor

from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

_PAPER = "Chou et al., ICML 2020"
_URL = "https://arxiv.org/abs/2007.02235"
_ASSUMES = "uniform label"


def negative_learning_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−log(1 − p_k) = log Σ_j e^{f_j} − log Σ_{j ≠ k} e^{f_j}, with p = softmax(f).

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair.
    k : Tensor of shape (n,)
        The excluded class of each row.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> round(negative_learning_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    0.2877
    """
    others = logits.scatter(1, k[:, None], float("-inf"))
    return logits.logsumexp(dim=1) - others.logsumexp(dim=1)


def exponential_surrogate_losses(logits: Tensor, k: Tensor) -> Tensor:
    """e^{p_k} of every pair.

    Examples
    --------
    >>> round(exponential_surrogate_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    1.284
    """
    return torch.softmax(logits, dim=1).gather(1, k[:, None]).squeeze(1).exp()


@register
class SurrogateNegativeLearning(PairMethod):
    """Mean −log(1 − p_k) over the pairs, p = softmax(f) and k the excluded class.

    Lowers the probability of the excluded class: a surrogate complementary loss [1]_ (SCL-NL), known as negative learning [2]_.

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    SurrogateExponential : Another surrogate from the same paper.
    ClassifierConsistent : The same loss for one label per example, and its extension to several.
    scarce.functional.negative_learning_loss : The loss as a function.

    References
    ----------
    .. [1] Y.-T. Chou, G. Niu, H.-T. Lin and M. Sugiyama, "Unbiased Risk Estimators Can Mislead: A Case Study of Learning
       with Complementary Labels", ICML 2020. https://arxiv.org/abs/2007.02235
    .. [2] Y. Kim, J. Yim, J. Yun and J. Kim, "NLNL: Negative Learning for Noisy Labels", ICCV 2019.
       https://arxiv.org/abs/1908.07387

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scl-nl")
    SurrogateNegativeLearning(pairs=False)
    """

    facts = MethodFacts("scl-nl", "negative learning", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log(1 − p_k)."""
        return negative_learning_losses(logits, k)


@register
class SurrogateExponential(PairMethod):
    """Mean e^{p_k} over the pairs, p = softmax(f) and k the excluded class.

    Lowers the probability of the excluded class: a bounded surrogate complementary loss [1]_ (SCL-EXP).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    SurrogateNegativeLearning : Another surrogate from the same paper.
    scarce.functional.exponential_surrogate_loss : The loss as a function.

    References
    ----------
    .. [1] Y.-T. Chou, G. Niu, H.-T. Lin and M. Sugiyama, "Unbiased Risk Estimators Can Mislead: A Case Study of Learning
       with Complementary Labels", ICML 2020. https://arxiv.org/abs/2007.02235

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scl-exp")
    SurrogateExponential(pairs=False)
    """

    facts = MethodFacts("scl-exp", "exponential surrogate", _PAPER, _ASSUMES, accepts=("single",), url=_URL)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """e^{p_k}."""
        return exponential_surrogate_losses(logits, k)
