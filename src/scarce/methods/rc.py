"""RC and PRODEN: confidence moves to the candidates that the model finds likely."""

from torch import Tensor, nn

from scarce.methods.base import Batch, MethodFacts
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register

__all__ = ["PRODEN", "RiskConsistent"]


@register
class RiskConsistent(ConfidenceMethod):
    """−mean Σ_j C_ij log p_ij; after every step C = p over the candidates, from a new forward pass."""

    facts = MethodFacts("rc", "risk-consistent", "Feng et al., NeurIPS 2020", "uniform candidates")


class SamePassMethod(ConfidenceMethod):
    """C = p over the candidates, from the logits of the step's own forward pass."""

    uses_inputs = False

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean Σ_j C_ij log p_ij."""
        self._step_logits = logits.detach()
        return super().loss(logits, batch)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Refresh the confidence of the batch from the logits its loss was computed on."""
        rows = self.rows(batch)
        self.confidence[rows] = self.updated_confidence(self._step_logits, self.candidates[rows]).to(
            self.confidence
        )


@register
class PRODEN(SamePassMethod):
    """−mean Σ_j C_ij log p_ij; C = p over the candidates, from the same forward pass as the loss."""

    facts = MethodFacts(
        "proden", "progressive identification", "Lv et al., ICML 2020", "truth is a candidate"
    )
