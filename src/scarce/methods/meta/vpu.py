"""SCARCE-Meta with VPU, a variational PU loss that needs no priors."""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_flag, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import MixupMethod
from scarce.methods.meta.base import class_probabilities, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk._mixture_proportion import Unlabeled, check_unlabeled
from scarce.risk.binary_losses import class_means

_MIXUP_WEIGHT = 0.03


def vpu_losses(g: Tensor, excluded: Tensor, *, unlabeled: Unlabeled = "all") -> Tensor:
    """log mean_U Φ − mean_P log Φ of every class, with Φ = σ(g).

    P are the rows that exclude the class, and U the unlabeled rows; the loss is 0 for a class without either. The minimizer
    is Φ ∝ p(y ≠ k | x); `log_not_k` removes the unknown factor.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a row excludes a class, in the dtype of the scores.
    unlabeled : {"all", "rest"}
        See `unlabeled_rows`.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> g, excluded = torch.tensor([[0.0], [0.0]]), torch.tensor([[1.0], [0.0]])
    >>> vpu_losses(g, excluded).tolist()
    [0.0]
    """
    log_phi = logsigmoid(g)
    rows = unlabeled_rows(excluded, unlabeled)
    n_rows = rows.sum(dim=0)
    used = (excluded.sum(dim=0) > 0) & (n_rows > 0)
    # A column of only −∞ has undefined gradients, so a class without unlabeled rows is not masked.
    summed = log_phi.masked_fill((rows == 0) & (n_rows > 0), -math.inf).logsumexp(dim=0)
    losses = summed - n_rows.clamp(min=1).log() - class_means(log_phi, excluded)
    return torch.where(used, losses, torch.zeros_like(losses))


def vpu_mixup_losses(g: Tensor, mixed: Tensor, pairs: Tensor, weight: float) -> Tensor:
    """mean (log Φ̃ − log Φ(x̃))² of every class over its pairs, with Φ = σ(g) and Φ̃ = λ Φ(x) + 1 − λ.

    x̃ = λ x + (1 − λ) x_P mixes a row with a positive, whose Φ is taken to be 1. Gradients flow through Φ̃ too.

    Parameters
    ----------
    g, mixed : Tensor of shape (n, q)
        Scores of the rows x, and of their mixtures x̃.
    pairs : Tensor of shape (n, q)
        1 where x is an unlabeled row of the class and its partner a positive.
    weight : float
        λ.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> g = torch.zeros(1, 1)
    >>> vpu_mixup_losses(g, g, torch.ones(1, 1), 1.0).tolist()
    [0.0]
    """
    lam = torch.tensor(weight, dtype=g.dtype, device=g.device)
    target = torch.logaddexp(lam.log() + logsigmoid(g), (1 - lam).log())
    return class_means((target - logsigmoid(mixed)) ** 2, pairs)


def log_not_k(g: Tensor, peak: Tensor) -> Tensor:
    """log Φ_k − max log Φ_k, the estimate of log p(y ≠ k | x) under VPU, with Φ = σ(g).

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    peak : Tensor of shape (q,)
        max log Φ_k over the training rows.

    Returns
    -------
    Tensor of shape (n, q)

    Examples
    --------
    >>> g = torch.tensor([[0.0, 1.0], [2.0, 1.0]])
    >>> log_not_k(g, logsigmoid(g).amax(dim=0))[1].tolist()
    [0.0, 0.0]
    """
    return logsigmoid(g) - peak


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaVPU(MixupMethod):
    """Σ_k (log mean_U Φ_k − mean_P log Φ_k) with Φ = σ(g); the prediction is argmin_k Φ_k / max Φ_k.

    One variational PU loss [1]_ per class [2]_: P are the rows that exclude k, and U the unlabeled rows. Φ_k estimates
    p(y ≠ k | x) only up to a factor; dividing by the maximum over the training rows makes the classes comparable.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.
    mixup : bool
        Whether to add 0.03 mean (log Φ̃ − log Φ(x̃))² over rows mixed with a positive; see `vpu_mixup_losses`. All classes
        share one mixture of the batch: a pair counts for the classes that its second row excludes.

    Attributes
    ----------
    peak : Tensor of shape (q,)
        max log Φ_k over the training rows.

    See Also
    --------
    MetaElkanNoto : Another PU learner that needs no priors.
    scarce.functional.vpu_loss : The loss as a function.

    References
    ----------
    .. [1] H. Chen, F. Liu, Y. Wang, L. Zhao and H. Wu, "A Variational Approach for Learning from Positive and Unlabeled
       Data", NeurIPS 2020. https://arxiv.org/abs/1906.00642
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-vpu", mixup=True)
    MetaVPU(unlabeled='all', mixup=True)
    """

    facts = MethodFacts(
        "meta-vpu",
        "VPU per class",
        "Chen et al., NeurIPS 2020",
        "SCAR",
        url="https://arxiv.org/abs/1906.00642",
    )
    predicts_with = ("peak",)
    needs_every_class = True
    mixup_alpha = 0.3

    peak: Tensor

    def __init__(self, unlabeled: Unlabeled = "all", mixup: bool = False) -> None:
        super().__init__(unlabeled=unlabeled, mixup=mixup)
        check_unlabeled(unlabeled)
        check_flag("mixup", mixup)
        self.unlabeled: Unlabeled = unlabeled
        self.mixup = mixup
        self.register_buffer("peak", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start with max Φ_k = 1."""
        super().prepare(problem)
        self.peak = torch.zeros(problem.n_classes)

    def uses_mixup(self) -> bool:
        """Return the parameter `mixup`."""
        return self.mixup

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The variational loss of every class, plus the mixup term if there is one."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        losses = vpu_losses(g, excluded, unlabeled=self.unlabeled)
        if len(mixed) == 0 or self._mixup is None:
            return losses
        pairs = unlabeled_rows(excluded, self.unlabeled) * excluded[self._mixup.partner]
        return losses + _MIXUP_WEIGHT * vpu_mixup_losses(g, mixed, pairs, self._mixup.weight)

    def after_epoch(self, epoch: int) -> None:
        """Update the maximum of log Φ_k over the training rows."""
        self.peak = logsigmoid(self.scores_seen).amax(dim=0)

    def scores(self, logits: Tensor) -> Tensor:
        """−(log Φ_k − max log Φ_k)."""
        return -log_not_k(-logits, self.peak)

    def probabilities(self, logits: Tensor) -> Tensor:
        """1 − Φ_k / max Φ_k, normalized to sum to one."""
        return class_probabilities(self.scores(logits))
