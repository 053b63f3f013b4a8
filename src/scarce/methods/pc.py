"""PC: compare the excluded class with every other class."""

from typing import Literal, get_args

import torch
from torch import Tensor

from scarce._validation import check_option
from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

Variant = Literal["unbiased", "official", "plain"]


def pairwise_comparison_losses(logits: Tensor, k: Tensor, variant: Variant = "plain") -> Tensor:
    """ℓ̄(f, k) = Σ_{j ≠ k} σ(f_k − f_j); ``unbiased`` is (q − 1) ℓ̄ − (q − 1)(q − 2)/2, ``official`` adds (q − 1)/2 to it.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per (example, excluded class) pair.
    k : Tensor of shape (n,)
        The excluded class of each row.
    variant : {"unbiased", "official", "plain"}
        ``plain`` is ℓ̄ itself.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> pairwise_comparison_losses(torch.zeros(1, 3), torch.tensor([2])).item()
    1.0
    """
    check_option("variant", variant, get_args(Variant))
    differences = logits.gather(1, k[:, None]) - logits
    losses, q = torch.sigmoid(differences).sum(dim=1) - 0.5, logits.shape[1]  # j = k contributes σ(0)
    if variant == "plain":
        return losses
    unbiased = (q - 1) * losses - (q - 1) * (q - 2) / 2
    return unbiased if variant == "unbiased" else unbiased + (q - 1) / 2


@register
class PairwiseComparison(PairMethod):
    """(q − 1) mean ℓ̄ − (q − 1)(q − 2)/2, with ℓ̄(f, k) = Σ_{j ≠ k} σ(f_k − f_j).

    Pushes the logit of the excluded class k below all others [1]_. The risk is unbiased if every wrong class is equally likely to
    be excluded.

    Parameters
    ----------
    variant : {"unbiased", "official", "plain"}
        ``"official"`` also counts j = k, as the authors' code does, which adds (q − 1)/2 and leaves the gradient unchanged;
        ``"plain"`` is mean ℓ̄.
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    UncorrectedRisk : Unbiased under the same assumption, with the cross-entropy.
    OrderPreserving : Another loss that lowers the excluded class relative to the others.
    scarce.functional.pc_loss : The loss as a function.

    References
    ----------
    .. [1] T. Ishida, G. Niu, W. Hu and M. Sugiyama, "Learning from Complementary Labels", NeurIPS 2017.
       https://arxiv.org/abs/1705.07541

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("pc", variant="plain")
    PairwiseComparison(pairs=False, variant='plain')
    """

    facts = MethodFacts(
        "pc",
        "pairwise comparison",
        "Ishida et al., NeurIPS 2017",
        "uniform label",
        accepts=("single",),
        url="https://arxiv.org/abs/1705.07541",
    )

    def __init__(self, variant: Variant = "unbiased", pairs: bool = False) -> None:
        super().__init__(pairs)
        self.params |= {"variant": variant}
        check_option("variant", variant, get_args(Variant))
        self.variant = variant

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """ℓ̄, scaled and shifted according to the variant."""
        return pairwise_comparison_losses(logits, k, self.variant)
