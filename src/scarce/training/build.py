"""A network for given data, from what a user may say about it."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scarce.errors import MethodError
from scarce.features.arrays import column_statistics, input_shape
from scarce.models import Standardize, make_model
from scarce.models.standardize import ROUNDING
from scarce.training.runtime import seeded
from scarce.training.sources import float_dtype

__all__ = ["MakeModule", "build_model", "build_paper_model"]

MakeModule = Callable[[tuple[int, ...], int], nn.Module]
_FAR = 1024  # deviations between a mean and zero, where float32 still knows a deviation to four digits


def build_model(
    module: str | nn.Module | MakeModule, X: Any, n_classes: int, *, seed: int, standardize: bool = True
) -> nn.Module:
    """Return a network for the rows of `X`: by name, a copy of a module, or what a function makes.

    Tables are brought to mean 0 and deviation 1 per column by a first layer, if `standardize`; images stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> build_model("linear", np.zeros((5, 2)), 3, seed=0, standardize=False)(torch.zeros(1, 2)).shape
    torch.Size([1, 3])
    """
    shape = input_shape(X)
    with seeded(seed):
        if isinstance(module, nn.Module):
            model = copy.deepcopy(module)
        elif isinstance(module, str):
            model = make_model(module, shape, n_classes)
        elif callable(module):
            model = module(shape, n_classes)
        else:
            raise MethodError(
                f"module={module!r}; expected a name such as 'mlp', an nn.Module, or a function that makes one."
            )
    if not standardize or len(shape) > 1:
        return model
    return nn.Sequential(_standardize(X, float_dtype(model)), model)


def _standardize(X: Any, dtype: torch.dtype) -> Standardize:
    """Return the layer for the columns of `X`, which centres them in float64 if float32 cannot carry their differences."""
    mean, deviation = column_statistics(X)
    is_wide = X.dtype.kind in "iu" or X.dtype.itemsize > 4
    far = (np.abs(mean) > _FAR * deviation) & (deviation > ROUNDING * np.abs(mean))
    if not (is_wide and far.any()):
        return Standardize(*(torch.as_tensor(values, dtype=torch.float32) for values in (mean, deviation)))
    rounded = torch.as_tensor(mean, dtype=dtype)
    rest = torch.as_tensor(mean - rounded.double().numpy(), dtype=dtype)
    return Standardize(rounded, torch.as_tensor(deviation, dtype=dtype), rest)


def build_paper_model(name: str, X: NDArray[Any], q: int, seed: int) -> nn.Module:
    """Make a network for images; those in colour are brought to mean 0 and deviation 1 per channel by its first layer.

    Examples
    --------
    >>> images = np.arange(2 * 3 * 16, dtype=np.uint8).reshape(2, 3, 4, 4)
    >>> scaled = build_paper_model("linear", images, 2, seed=0)[0](torch.tensor(images) / 255)
    >>> scaled.mean(dim=(0, 2, 3)).abs().max() < 1e-6, scaled.std(dim=(0, 2, 3), correction=0).round(decimals=3).tolist()
    (tensor(True), [1.0, 1.0, 1.0])
    """
    model = build_model(name, X, q, seed=seed, standardize=False)
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
