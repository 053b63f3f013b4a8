"""PC: pairwise comparison of the excluded class with all others."""

from typing import Literal, get_args

import torch
from torch import Tensor

from scarce._validation import check_option
from scarce.methods.base import MethodFacts
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = ["PairwiseComparison", "pairwise_comparison_losses"]

Variant = Literal["unbiased", "official", "plain"]


def pairwise_comparison_losses(logits: Tensor, k: Tensor, variant: Variant = "plain") -> Tensor:
    """ℓ̄(f, k) = Σ_{j ≠ k} σ(f_k − f_j); ``unbiased`` is (q − 1) ℓ̄ − (q − 1)(q − 2)/2, ``official`` adds (q − 1)/2 to it.

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
    """(q − 1) mean ℓ̄ − (q − 1)(q − 2)/2, unbiased under uniform labels.

    Parameters
    ----------
    variant : {"unbiased", "official", "plain"}
        ``official`` counts j = k too, as the authors' program, which adds (q − 1)/2 and changes no gradient; ``plain``
        is mean ℓ̄ alone.
    pairs : bool
        Take several labels per example, each as an example of its own.
    """

    facts = MethodFacts(
        "pc",
        "pairwise comparison",
        "Ishida et al., NeurIPS 2017",
        "uniform label",
        accepts=("single",),
    )

    def __init__(self, variant: Variant = "unbiased", pairs: bool = False) -> None:
        super().__init__(pairs)
        self.params |= {"variant": variant}
        check_option("variant", variant, get_args(Variant))
        self.variant = variant

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """ℓ̄, scaled and shifted as the variant has it."""
        return pairwise_comparison_losses(logits, k, self.variant)
