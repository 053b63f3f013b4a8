"""SCARCE-Meta with Dist-PU: match the mean predictions on positives and on unlabeled rows to their known values."""

import math

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from scarce._validation import check_integer, check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._mixup import MixupMethod
from scarce.methods.meta.base import MixtureMethod, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk._mixture_proportion import Unlabeled
from scarce.risk.binary_losses import class_means

_MAX_SCORE = 10.0
_FINAL_ENTROPY_WEIGHT = 0.004
_MIXUP_WEIGHT = 5.0
_MIXUP_ENTROPY_WEIGHT = 0.04


def binary_entropy(g: Tensor) -> Tensor:
    """H(σ(g)) in nats, with g clamped to [−10, 10].

    Parameters
    ----------
    g : Tensor
        Scores of any shape.

    Returns
    -------
    Tensor
        The entropies, of the same shape.

    Examples
    --------
    >>> round(binary_entropy(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    z = g.clamp(-_MAX_SCORE, _MAX_SCORE)
    return softplus(z) - z * torch.sigmoid(z)


def dist_pu_losses(
    g: Tensor,
    excluded: Tensor,
    mixture_proportion: Tensor,
    *,
    mu: float = 0.002,
    weight: float | None = None,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """|m_P − 1| + w |m_U − θ| + μ mean_U H(σ(g)) of every class, m_P and m_U being the means of σ(g) over P and U.

    P are the rows that exclude the class, and U the unlabeled rows. A class that no row excludes has no first term.

    Parameters
    ----------
    g, excluded, mixture_proportion, unlabeled
        See `pu_risks`.
    mu : float
        μ.
    weight : float, optional
        w; by default 1 / (2θ) as published, which suits proportions below a half. With w below 1, raising all scores together
        lowers the loss, so training drifts to σ(g) = 1 everywhere.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> g, excluded = torch.tensor([[9.0], [-9.0]]), torch.tensor([[1.0], [0.0]])
    >>> dist_pu_losses(g, excluded, torch.tensor([0.5])).item() < 0.001
    True
    """
    probabilities, rows = torch.sigmoid(g), unlabeled_rows(excluded, unlabeled)
    present = excluded.sum(dim=0) > 0
    weights = 1 / (2 * mixture_proportion.clamp(min=1e-6)) if weight is None else weight
    positives = (class_means(probabilities, excluded) - 1).abs() * present
    others = (class_means(probabilities, rows) - mixture_proportion).abs() * weights
    return positives + others + mu * class_means(binary_entropy(g), rows)


def mixed_losses(mixed: Tensor, target: Tensor) -> Tensor:
    """mean BCE(σ(g̃), λ a + (1 − λ) b) of every class, g̃ being the scores of the mixtures λ x_a + (1 − λ) x_b.

    The cross-entropy is linear in its target, so this equals λ BCE(σ(g̃), a) + (1 − λ) BCE(σ(g̃), b).

    Parameters
    ----------
    mixed : Tensor of shape (n, q)
        g̃.
    target : Tensor of shape (n, q)
        λ a + (1 − λ) b, the mixed targets.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> mixed_losses(torch.zeros(1, 1), torch.tensor([[0.3]])).tolist()
    [0.69314...]
    """
    return binary_cross_entropy_with_logits(mixed, target, reduction="none").mean(dim=0)


def entropy_weight(epoch: int, period: int) -> float:
    """0.004 (1 − cos(π t / 2T)), which rises from 0 to 0.004 over T epochs and then stays constant.

    Parameters
    ----------
    epoch : int
        t, the number of epochs since the warm-up.
    period : int
        T.

    Returns
    -------
    float

    Examples
    --------
    >>> entropy_weight(0, 20), round(entropy_weight(30, 20), 6)
    (0.0, 0.004)
    """
    return _FINAL_ENTROPY_WEIGHT * (1 - math.cos(math.pi / 2 * min(epoch / period, 1.0)))


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaDistPU(MixupMethod, MixtureMethod):
    """Σ_k (|m_P − 1| + w |m_U − θ_k| + μ mean_U H(σ(g_k))), m_P and m_U being the means of σ(g_k) over P and U.

    One Dist-PU loss [1]_ per class [2]_: the mean prediction should be 1 over the rows P that exclude k, and θ_k, the
    fraction of "not k", over the unlabeled rows U. After `warm_up` epochs, mixup with pseudo-labels is added, and the
    weight c_t of the entropy rises over `period` epochs:

        |m_P − 1| + w |m_U − θ| + c_t mean_U H(σ(g)) + 5 BCE_mix + 0.04 mean H(σ(g̃)).

    g̃ is the score of the mixture λ x_i + (1 − λ) x_j with λ ~ Beta(6, 6). BCE_mix is its cross-entropy with the same
    mixture of pseudo-labels: the latest σ(g) of i and j, or 1 where the class is excluded.

    Parameters
    ----------
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.
    weight : float or None
        w. None means 1 / (2 θ_k), as published; with many classes this is below 1, and training drifts to "not k" for every row.
    mu : float
        Weight μ of the entropy during the warm-up.
    warm_up : int
        Epochs before mixup starts.
    period : int
        Epochs over which c_t rises.

    See Also
    --------
    MetaNNPU : Another PU learner that needs priors.
    scarce.functional.dist_pu_loss : The loss as a function.

    References
    ----------
    .. [1] Y. Zhao, Q. Xu, Y. Jiang, P. Wen and Q. Huang, "Dist-PU: Positive-Unlabeled Learning from a Label Distribution
       Perspective", CVPR 2022. https://arxiv.org/abs/2212.02801
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-dist-pu", warm_up=5).params["warm_up"]
    5
    """

    facts = MethodFacts(
        "meta-dist-pu",
        "Dist-PU per class",
        "Zhao et al., CVPR 2022",
        "SCAR",
        needs_priors=True,
        url="https://arxiv.org/abs/2212.02801",
    )
    needs_every_class = True
    mixup_alpha = 6.0

    epoch: Tensor

    def __init__(
        self, unlabeled: Unlabeled = "all", weight: float | None = 2.0, mu: float = 0.002, warm_up: int = 10,
        period: int = 20,
    ) -> None:  # fmt: skip
        super().__init__(unlabeled, weight=weight, mu=mu, warm_up=warm_up, period=period)
        if weight is not None:
            check_number("weight", weight)
        check_number("mu", mu)
        check_integer("warm_up", warm_up, low=1)  # before it there are no pseudo-labels
        check_integer("period", period, low=1)
        self.weight, self.mu, self.warm_up, self.period = weight, mu, warm_up, period
        self.register_buffer("epoch", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Reset the epoch counter, so that training starts with the warm-up."""
        super().prepare(problem)
        self.epoch.zero_()

    def uses_mixup(self) -> bool:
        """Return whether the warm-up is over."""
        return bool(self.epoch >= self.warm_up)

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The loss of every class; after the warm-up with the mixup terms."""
        excluded = batch.excluded
        g, mixed = g[: len(excluded)], g[len(excluded) :]
        epochs_after_warm_up = int(self.epoch) - self.warm_up
        mu = self.mu if epochs_after_warm_up < 0 else entropy_weight(epochs_after_warm_up, self.period)
        losses = dist_pu_losses(
            g, excluded, self.mixture_proportion, mu=mu, weight=self.weight, unlabeled=self.unlabeled
        )
        if len(mixed) == 0 or self._mixup is None:
            return losses
        target = torch.maximum(torch.sigmoid(self.scores_seen[self.rows(batch)]), excluded)
        mixup_losses = mixed_losses(mixed, self._mixup.of(target))
        return (
            losses + _MIXUP_WEIGHT * mixup_losses + _MIXUP_ENTROPY_WEIGHT * binary_entropy(mixed).mean(dim=0)
        )

    def after_epoch(self, epoch: int) -> None:
        """Count the epochs."""
        self.epoch.fill_(epoch + 1)
