"""CC: the probability that the class is a candidate."""

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.partial_label import candidate_losses, candidate_mask
from scarce.methods.registry import register


@register
class ClassifierConsistent(Method):
    """−mean log Σ_{j ∈ S} p_j, p = softmax(f) and S the candidates, the classes that are not excluded.

    Maximum likelihood of the candidates if every set that contains the true class is equally likely [1]_. A row without
    exclusions contributes 0.

    See Also
    --------
    RiskConsistent : The other method of the same paper.
    MultipleLabelLog : The same loss, weighted by the number of labels.
    SurrogateNegativeLearning : The same loss for one label per example.
    scarce.functional.cc_loss : The loss as a function.

    References
    ----------
    .. [1] L. Feng, J. Lv, B. Han, M. Xu, G. Niu, X. Geng, B. An and M. Sugiyama, "Provably Consistent Partial-Label
       Learning", NeurIPS 2020. https://arxiv.org/abs/2007.08929

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("cc")
    ClassifierConsistent()
    """

    facts = MethodFacts(
        "cc",
        "classifier-consistent",
        "Feng et al., NeurIPS 2020",
        "uniform candidates",
        url="https://arxiv.org/abs/2007.08929",
    )

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_{j ∈ S} p_j."""
        return candidate_losses(logits, candidate_mask(batch.excluded, batch.confirmed)).mean()
