"""RC and PRODEN: confidence moves to the candidates that the model finds likely."""

from torch import Tensor, nn

from scarce.methods.base import Batch, MethodFacts
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.registry import register


@register
class RiskConsistent(ConfidenceMethod):
    """−mean Σ_j C_ij log p_ij, p = softmax(f) and C_i the confidence of example i in its candidates.

    The cross-entropy with soft labels: after every step, C_i is set to p_i restricted to the candidates and normalized,
    from a second forward pass in evaluation mode [1]_.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        C.

    See Also
    --------
    PRODEN : The same update without the second forward pass.
    ClassifierConsistent : The other method of the same paper.
    scarce.functional.rc_loss : The loss as a function; takes C.

    References
    ----------
    .. [1] L. Feng, J. Lv, B. Han, M. Xu, G. Niu, X. Geng, B. An and M. Sugiyama, "Provably Consistent Partial-Label
       Learning", NeurIPS 2020. https://arxiv.org/abs/2007.08929

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("rc")
    RiskConsistent()
    """

    facts = MethodFacts(
        "rc",
        "risk-consistent",
        "Feng et al., NeurIPS 2020",
        "uniform candidates",
        url="https://arxiv.org/abs/2007.08929",
    )


class SamePassMethod(ConfidenceMethod):
    """A `ConfidenceMethod` that updates C from the logits of the training step, without a second forward pass."""

    uses_inputs = False

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean Σ_j C_ij log p_ij."""
        self._step_logits = logits.detach()
        return super().loss(logits, batch)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Update the confidence of the batch from the logits of its loss."""
        rows = self.rows(batch)
        self.confidence[rows] = self.updated_confidence(self._step_logits, self.candidates[rows]).to(
            self.confidence
        )


@register
class PRODEN(SamePassMethod):
    """−mean Σ_j C_ij log p_ij, p = softmax(f) and C_i the confidence of example i in its candidates.

    The cross-entropy with soft labels: after every step, C_i is set to p_i restricted to the candidates and normalized,
    from the same forward pass as the loss [1]_.

    Attributes
    ----------
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence : Tensor of shape (n, q)
        C.

    See Also
    --------
    RiskConsistent : The same update, from a second forward pass.
    POP : PRODEN that also removes unlikely candidates.
    CAVL : Puts all confidence on one candidate.
    scarce.functional.rc_loss : The loss as a function; takes C.

    References
    ----------
    .. [1] J. Lv, M. Xu, L. Feng, G. Niu, X. Geng and M. Sugiyama, "Progressive Identification of True Labels for
       Partial-Label Learning", ICML 2020. https://arxiv.org/abs/2002.08053

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("proden")
    PRODEN()
    """

    facts = MethodFacts(
        "proden",
        "progressive identification",
        "Lv et al., ICML 2020",
        "truth is a candidate",
        url="https://arxiv.org/abs/2002.08053",
    )
