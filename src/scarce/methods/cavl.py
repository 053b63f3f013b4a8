"""CAVL: put all confidence on the candidate with the largest class activation value."""

import torch
from torch import Tensor

from scarce.methods.base import MethodFacts
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register


def most_active_candidate(logits: Tensor, candidates: Tensor) -> Tensor:
    """One-hot vector of argmax_{j ∈ S} |f_j − 1| f_j, the candidate with the largest class activation value.

    Classes outside S are masked with −∞. The published code multiplies them by zero, so an excluded class wins whenever the
    values of all candidates are negative.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    candidates : Tensor of bool, shape (n, q)
        S, the classes that are not excluded.

    Returns
    -------
    Tensor of shape (n, q)
        1 at the chosen candidate, 0 elsewhere.

    Examples
    --------
    >>> most_active_candidate(torch.tensor([[-1.0, -0.5, 9.0]]), torch.tensor([[True, True, False]])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    values = ((logits - 1).abs() * logits).masked_fill(~candidates, float("-inf"))
    return torch.nn.functional.one_hot(values.argmax(dim=1), logits.shape[1]).to(logits)


@register
class CAVL(ConfidenceMethod):
    """−mean log p_m with m = argmax_{j ∈ S} |f_j − 1| f_j, p = softmax(f) and S the candidates.

    The cross-entropy of the candidate with the largest class activation value, which is chosen again after every step [1]_.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        One-hot: the candidate that each training example is trained on.

    See Also
    --------
    PRODEN, RiskConsistent : Spread the confidence over the candidates.
    scarce.functional.rc_loss : The loss as a function; takes the chosen candidates.

    References
    ----------
    .. [1] F. Zhang, L. Feng, B. Han, T. Liu, G. Niu, T. Qin and M. Sugiyama, "Exploiting Class Activation Value for
       Partial-Label Learning", ICLR 2022. https://openreview.net/forum?id=qqdXHUGec9h

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("cavl")
    CAVL()
    """

    facts = MethodFacts(
        "cavl",
        "class activation value",
        "Zhang et al., ICLR 2022",
        "truth is a candidate",
        url="https://openreview.net/forum?id=qqdXHUGec9h",
    )

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """Put all confidence on the most active candidate."""
        return most_active_candidate(logits, candidates)
