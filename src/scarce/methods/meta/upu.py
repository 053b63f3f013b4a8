"""SCARCE-Meta with uPU: the unbiased PU risk, which equals the uncorrected SCARCE risk."""

from typing import NamedTuple

from torch import Tensor

from scarce._validation import renamed_parameters
from scarce.methods.base import Batch, MethodFacts
from scarce.methods.meta.base import MixtureMethod, unlabeled_rows
from scarce.methods.registry import register
from scarce.risk import binary_loss, signed_losses
from scarce.risk._mixture_proportion import Unlabeled
from scarce.risk.binary_losses import class_means


class PURisks(NamedTuple):
    """The risks of the positives and of the negatives of every class, each of shape (q,)."""

    positive: Tensor
    """r⁺ = θ mean_P ℓ(g)."""
    negative: Tensor
    """r⁻ = mean_U ℓ(−g) − θ mean_P ℓ(−g) (= π_k E[ℓ(−g) | y = k] where U are all rows, never negative in expectation)."""

    @property
    def total(self) -> Tensor:
        """r⁺ + r⁻, the unbiased risk; with all rows as unlabeled it is the uncorrected SCARCE risk of f = −g."""
        return self.positive + self.negative


def pu_risks(
    g: Tensor,
    excluded: Tensor,
    mixture_proportion: Tensor,
    *,
    loss: str = "logistic",
    unlabeled: Unlabeled = "all",
) -> PURisks:
    """r⁺ = θ mean_P ℓ(g) and r⁻ = mean_U ℓ(−g) − θ mean_P ℓ(−g) of every class.

    P are the rows that exclude the class, and U the unlabeled rows.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a row excludes a class, in the dtype of the scores.
    mixture_proportion : Tensor of shape (q,)
        θ, the fraction of "not k" among the unlabeled rows; see `scarce.risk._mixture_proportion.mixture_proportion`.
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    unlabeled : {"all", "rest"}
        See `unlabeled_rows`.

    Returns
    -------
    PURisks

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> [part.item() for part in pu_risks(g, excluded, torch.tensor([0.5]), loss="hinge")]
    [0.0, 0.0]
    >>> round(pu_risks(g, excluded, torch.tensor([0.5])).total.item(), 4)
    0.3133
    """
    losses, negated_losses = signed_losses(loss, g)
    positives, others = excluded, unlabeled_rows(excluded, unlabeled)
    return PURisks(
        mixture_proportion * class_means(losses, positives),
        class_means(negated_losses, others) - mixture_proportion * class_means(negated_losses, positives),
    )


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaUPU(MixtureMethod):
    """Σ_k (θ_k mean_P ℓ(g_k) + mean_U ℓ(−g_k) − θ_k mean_P ℓ(−g_k)).

    One unbiased PU risk [1]_ per class [2]_: P are the rows that exclude k, U the unlabeled rows, and θ_k is the fraction
    of "not k" among them. The risk can become negative, and flexible models then overfit.

    Parameters
    ----------
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.

    See Also
    --------
    MetaNNPU : The same risk with a correction.
    ScarceURE : The same risk, written in terms of the logits.
    scarce.functional.upu_risk : The risk as a function.

    References
    ----------
    .. [1] M. C. du Plessis, G. Niu and M. Sugiyama, "Convex Formulation for Learning from Positive and Unlabeled Data",
       ICML 2015. https://proceedings.mlr.press/v37/plessis15.html
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-upu")
    MetaUPU(unlabeled='all', loss='logistic')
    """

    facts = MethodFacts(
        "meta-upu",
        "uPU per class",
        "du Plessis et al., ICML 2015",
        "SCAR",
        needs_priors=True,
        url="https://proceedings.mlr.press/v37/plessis15.html",
    )

    def __init__(self, loss: str = "logistic", unlabeled: Unlabeled = "all") -> None:
        super().__init__(unlabeled, loss=loss)
        binary_loss(loss)
        self.loss_name = loss

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The unbiased risk of every class."""
        return pu_risks(
            g, batch.excluded, self.mixture_proportion, loss=self.loss_name, unlabeled=self.unlabeled
        ).total
