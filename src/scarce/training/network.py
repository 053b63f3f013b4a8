"""A network for given data, from what a user may say about it."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from scarce.errors import MethodError
from scarce.models import Standardize, make_model
from scarce.training.inputs import column_statistics, input_shape
from scarce.training.seeding import seeded

__all__ = ["MakeModule", "build_network"]

MakeModule = Callable[[tuple[int, ...], int], nn.Module]


def build_network(
    module: str | nn.Module | MakeModule, X: Any, n_classes: int, *, seed: int, standardize: bool = True
) -> nn.Module:
    """Return a network for the rows of `X`: by name, a copy of a module, or what a function makes.

    Tables are brought to mean 0 and deviation 1 per column by a first layer, if `standardize`; images stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> build_network("linear", np.zeros((5, 2)), 3, seed=0, standardize=False)(torch.zeros(1, 2)).shape
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
    mean, deviation = (torch.as_tensor(values, dtype=torch.float32) for values in column_statistics(X))
    return nn.Sequential(Standardize(mean, deviation), model)
