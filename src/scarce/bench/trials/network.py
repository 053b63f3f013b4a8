"""The networks of trials, as the paper feeds them: grey images scaled to [0, 1], colours standardised as well."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scarce.models import Standardize
from scarce.training.build import build_network

__all__ = ["network_for"]


def network_for(name: str, X: NDArray[Any], q: int, seed: int) -> nn.Module:
    """Make a network for images; those in colour are brought to mean 0 and deviation 1 per channel by its first layer.

    Examples
    --------
    >>> images = np.arange(2 * 3 * 16, dtype=np.uint8).reshape(2, 3, 4, 4)
    >>> scaled = network_for("linear", images, 2, seed=0)[0](torch.tensor(images) / 255)
    >>> scaled.mean(dim=(0, 2, 3)).abs().max() < 1e-6, scaled.std(dim=(0, 2, 3), correction=0).round(decimals=3).tolist()
    (tensor(True), [1.0, 1.0, 1.0])
    """
    model = build_network(name, X, q, seed=seed, standardize=False)
    if X.ndim < 4:
        return model
    levels = np.arange(256) / 255
    counts = np.array([_histogram(X[:, channel]) for channel in range(X.shape[1])])
    shares = counts / counts.sum(axis=1, keepdims=True)
    mean = shares @ levels
    deviation = np.sqrt(shares @ levels**2 - mean**2)
    per_channel = [torch.tensor(numbers, dtype=torch.float32)[:, None, None] for numbers in (mean, deviation)]
    return nn.Sequential(Standardize(*per_channel), model)


def _histogram(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    # In parts, because numpy counts in eight bytes per pixel.
    parts = np.array_split(pixels, 1 + len(pixels) // 1000)
    counts: NDArray[np.intp] = np.sum([np.bincount(part.ravel(), minlength=256) for part in parts], axis=0)
    return counts
