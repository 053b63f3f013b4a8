"""CC: the probability of the candidates."""

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.partial_label import candidate_losses, candidate_mask
from scarce.methods.registry import register

__all__ = ["ClassifierConsistent"]


@register
class ClassifierConsistent(Method):
    """−mean log Σ_{j ∈ S} p_j over the candidates S; a row without labels contributes 0."""

    facts = MethodFacts("cc", "classifier-consistent", "Feng et al., NeurIPS 2020", "uniform candidates")

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_S p."""
        return candidate_losses(logits, candidate_mask(batch.excluded, batch.confirmed)).mean()
