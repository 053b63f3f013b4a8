"""Elkan and Noto: learn which rows are labelled, then divide by how often a positive is (2008)."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from scarce.pu.sets import class_means

__all__ = ["elkan_noto_losses", "label_frequency", "not_k_posterior"]


def elkan_noto_losses(g: Tensor, excluded: Tensor) -> Tensor:
    """Return mean BCE(σ(g), ȳ) of every class: σ(g) learns p(k is excluded | x) = c_k p(y ≠ k | x).

    Examples
    --------
    >>> elkan_noto_losses(torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])).tolist()
    [0.69314...]
    """
    losses = binary_cross_entropy_with_logits(g, excluded, reduction="none")
    return class_means(losses, torch.ones_like(excluded))


def label_frequency(g: Tensor, rows: Tensor) -> Tensor:
    """Return ĉ_k, the mean of σ(g_k) over `rows` of shape (n, q), 1 for held-out rows that exclude k.

    It estimates c_k = p(k is excluded | y ≠ k); where the priors are known, c_k = π̄_k / (1 − π_k) is exact.

    Examples
    --------
    >>> label_frequency(torch.tensor([[0.0], [5.0]]), torch.tensor([[1.0], [0.0]])).tolist()
    [0.5]
    """
    return class_means(torch.sigmoid(g), rows)


def not_k_posterior(g: Tensor, frequency: Tensor) -> Tensor:
    """Return σ(g_k) / c_k, the estimate of p(y ≠ k | x); it may exceed 1.

    Examples
    --------
    >>> not_k_posterior(torch.tensor([[0.0]]), torch.tensor([0.8])).tolist()
    [[0.625]]
    """
    return torch.sigmoid(g) / frequency
