"""CAVL: all confidence to the candidate with the largest activation value."""

import torch
from torch import Tensor

from scarce.methods.base import MethodFacts
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register

__all__ = ["CAVL", "most_active_candidate"]


def most_active_candidate(logits: Tensor, candidates: Tensor) -> Tensor:
    """One-hot of argmax_{j ∈ S} |f_j − 1| f_j.

    The others are masked with −∞: with zeros, as published, a class that is excluded wins whenever all values of the
    candidates are negative.

    Examples
    --------
    >>> most_active_candidate(torch.tensor([[-1.0, -0.5, 9.0]]), torch.tensor([[True, True, False]])).tolist()
    [[0.0, 1.0, 0.0]]
    """
    values = ((logits - 1).abs() * logits).masked_fill(~candidates, float("-inf"))
    return torch.nn.functional.one_hot(values.argmax(dim=1), logits.shape[1]).to(logits)


@register
class CAVL(ConfidenceMethod):
    """−mean log p of the candidate with the largest |f_j − 1| f_j, found again after every step."""

    facts = MethodFacts("cavl", "class activation value", "Zhang et al., ICLR 2022", "truth is a candidate")

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """All to the most active candidate."""
        return most_active_candidate(logits, candidates)
