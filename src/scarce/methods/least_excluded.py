"""Learn which classes each example excludes, and predict the one that is excluded least."""

from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, logsigmoid

from scarce.labels._single_label import is_single_label
from scarce.methods._labeling import labeled_rates, was_labeled
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.methods.registry import register
from scarce.risk import safe_log


def exclusion_losses(logits: Tensor, excluded: Tensor, single_label: bool) -> Tensor:
    """−log g_k of the excluded class with g = softmax(f), or Σ_k BCE(σ(f_k), ȳ_k), of every row.

    Examples
    --------
    >>> excluded = torch.tensor([[0.0, 1.0]])
    >>> [round(exclusion_losses(torch.zeros(1, 2), excluded, single).item(), 4) for single in (True, False)]
    [0.6931, 1.3863]
    """
    if single_label:
        return -(log_softmax(logits, dim=1) * excluded).sum(dim=1)
    return binary_cross_entropy_with_logits(logits, excluded, reduction="none").sum(dim=1)


@register
class LeastExcluded(Method):
    """Maximum likelihood of g_k(x) = P(k is excluded | x); the prediction is argmin_k g_k(x) / π̄_k.

    Ordinary classification with the exclusions as targets. With one label per example, g = softmax(f) and the loss is the
    cross-entropy of the excluded class. With zero or more labels, g_k = σ(f_k) and the loss is the sum of the binary
    cross-entropies.

    However the labels are generated, the prediction is right where x determines the class, provided that the true class is rarely
    excluded. Where classes overlap, it is biased if the other classes are excluded at different rates. The method is a quick
    baseline, and the first stage of `refine`.

    See Also
    --------
    Refine : Starts from this method.
    CPEIdentity : The same loss for one label per example, decoded with a known transition matrix.
    MetaElkanNoto : Divides by the label frequency of "not k" instead of the rate.
    scarce.functional.least_excluded_nll : The loss as a function.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("least-excluded")
    LeastExcluded()
    """

    facts = MethodFacts("least-excluded", "least excluded class", "this project", "own class excluded least")
    loss_is_likelihood = True
    renamed_state = MappingProxyType({"one_mark": "single_label"})

    log_rates: Tensor
    single_label: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("log_rates", torch.empty(0))
        self.register_buffer("single_label", torch.tensor(False))

    def prepare(self, problem: Problem) -> None:
        """Compute the rates of the labels."""
        super().prepare(problem)
        single_label = is_single_label(problem.labels)
        self.log_rates = safe_log(labeled_rates(problem.labels, single_label))
        self.single_label.fill_(single_label)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log P(Ȳ | x)."""
        single_label = bool(self.single_label)
        losses = exclusion_losses(logits, batch.excluded, single_label)
        return (losses * was_labeled(batch.excluded, batch.confirmed, single_label)).mean()

    def scores(self, logits: Tensor) -> Tensor:
        """log π̄_k − log g_k."""
        log_g = log_softmax(logits, dim=1) if self.single_label else logsigmoid(logits)
        return self.log_rates.to(logits) - log_g
