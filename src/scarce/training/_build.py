"""Build a model for given data from a name, a module or a function, with a layer that standardizes the inputs."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scarce._validation import shorten
from scarce.errors import MethodError
from scarce.features._arrays import column_statistics, input_shape
from scarce.models import Standardize, make_model
from scarce.models.standardize import ROUNDING
from scarce.training._batches import float_dtype
from scarce.training._runtime import seeded

MakeModule = Callable[[tuple[int, ...], int], nn.Module]
_MAX_MEAN_IN_DEVIATIONS = (
    1024  # beyond this, float32 keeps fewer than four digits of a deviation from the mean
)


def build_model(
    module: str | nn.Module | MakeModule, X: Any, n_classes: int, *, seed: int, standardize: bool = True
) -> nn.Module:
    """Return a model for the rows of `X`: a built-in one by name, a copy of a module, or the result of a function.

    Parameters
    ----------
    module : str, nn.Module or callable
        The name of a built-in model, a module to copy, or a function that maps input shape and number of classes to a module.
    X : array, sparse matrix or Shards of shape (n, ...)
        The features; their shape, and with `standardize` their statistics, determine the model.
    n_classes : int
        The number of outputs q.
    seed : int
        The seed of the initial weights.
    standardize : bool
        Prepend a layer that scales the columns of a table to mean 0 and standard deviation 1; images stay as they are.

    Examples
    --------
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
                f"module={shorten(module)}; pass a name such as 'mlp', an nn.Module, or a function that returns one."
            )
    if not standardize or len(shape) > 1:
        return model
    return nn.Sequential(_standardize(X, float_dtype(model)), model)


def _standardize(X: Any, dtype: torch.dtype) -> Standardize:
    """Return the layer for the columns of `X`; it centers them in float64 if float32 would lose their differences."""
    mean, deviation = column_statistics(X)
    is_wide = X.dtype.kind in "iu" or X.dtype.itemsize > 4
    is_far = (np.abs(mean) > _MAX_MEAN_IN_DEVIATIONS * deviation) & (deviation > ROUNDING * np.abs(mean))
    if not (is_wide and is_far.any()):
        return Standardize(*(torch.as_tensor(values, dtype=torch.float32) for values in (mean, deviation)))
    mean_rounded = torch.as_tensor(mean, dtype=dtype)
    rest = torch.as_tensor(mean - mean_rounded.double().numpy(), dtype=dtype)
    return Standardize(mean_rounded, torch.as_tensor(deviation, dtype=dtype), rest)


def build_paper_model(name: str, X: NDArray[Any], n_classes: int, seed: int) -> nn.Module:
    """Return a built-in model for images, as in the paper's experiments.

    Parameters
    ----------
    name : str
        The name of the model.
    X : array of uint8
        The training images: n × height × width, or n × channels × height × width. If they have channels, a first layer scales each
        channel to mean 0 and standard deviation 1.
    n_classes : int
        The number of outputs q.
    seed : int
        The seed of the initial weights.

    Examples
    --------
    >>> images = np.arange(2 * 3 * 16, dtype=np.uint8).reshape(2, 3, 4, 4)
    >>> scaled = build_paper_model("linear", images, 2, seed=0)[0](torch.tensor(images) / 255)
    >>> scaled.mean(dim=(0, 2, 3)).abs().max() < 1e-6, scaled.std(dim=(0, 2, 3), correction=0).round(decimals=3).tolist()
    (tensor(True), [1.0, 1.0, 1.0])
    """
    model = build_model(name, X, n_classes, seed=seed, standardize=False)
    if X.ndim < 4:
        return model
    levels = np.arange(256) / 255
    counts = np.array([_pixel_counts(X[:, channel]) for channel in range(X.shape[1])])
    frequencies = counts / counts.sum(axis=1, keepdims=True)
    mean = frequencies @ levels
    deviation = np.sqrt(frequencies @ levels**2 - mean**2)
    per_channel = [torch.tensor(numbers, dtype=torch.float32)[:, None, None] for numbers in (mean, deviation)]
    return nn.Sequential(Standardize(*per_channel), model)


def _pixel_counts(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    # Count in chunks, because NumPy converts every pixel to eight bytes.
    chunks = np.array_split(pixels, 1 + len(pixels) // 1000)
    counts: NDArray[np.intp] = np.sum([np.bincount(chunk.ravel(), minlength=256) for chunk in chunks], axis=0)
    return counts
