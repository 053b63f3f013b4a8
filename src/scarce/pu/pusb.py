"""PUSB: thresholds that call the right share of rows positive (Kato et al., 2019)."""

from torch import Tensor

__all__ = ["pusb_thresholds"]


def pusb_thresholds(g: Tensor, priors: Tensor) -> Tensor:
    """Return the threshold of every class, which the share 1 − π_k of the scores reach: sorted(g_k)[⌊n π_k⌋].

    Only the order of the scores has to be right, which it is also when the positives were selected with a bias that
    keeps it.

    Examples
    --------
    >>> import torch
    >>> g = torch.tensor([[4.0], [1.0], [3.0], [2.0]])
    >>> pusb_thresholds(g, torch.tensor([0.25])).tolist()
    [2.0]
    """
    place = (len(g) * priors).long().clamp(0, len(g) - 1)
    return g.sort(dim=0).values.gather(0, place[None]).squeeze(0)
