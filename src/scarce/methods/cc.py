"""CC: the probability of the candidates."""

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.registry import register

__all__ = ["CC", "cc_losses"]


def cc_losses(logits: Tensor, candidates: Tensor) -> Tensor:
    """−log Σ_{j ∈ S} p_j of every row.

    Examples
    --------
    >>> import torch
    >>> cc_losses(torch.zeros(1, 4), torch.tensor([[True, True, False, False]])).item()
    0.6931...
    """
    return logits.logsumexp(dim=1) - logits.masked_fill(~candidates, float("-inf")).logsumexp(dim=1)


@register
class CC(Method):
    """−mean log Σ_{j ∈ S} p_j over the candidates S; a row without labels contributes 0."""

    facts = MethodFacts(
        "cc",
        "classifier-consistent",
        "Feng et al., NeurIPS 2020",
        "uniform candidates",
    )

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_S p."""
        candidates = batch.excluded == 0
        if batch.confirmed is not None:
            known = batch.confirmed >= 0
            candidates[known] = False
            candidates[known, batch.confirmed[known]] = True
        return cc_losses(logits, candidates).mean()
