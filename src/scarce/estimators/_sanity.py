"""Checks of networks: finite predictions, and saved weights that are finite and fit the described network."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from scarce.errors import FeatureError
from scarce.features import Shards


def checked_logits(X: Any, function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return a function for consecutive batches of logits of `X`: `function`, after a check that the logits are finite.

    Examples
    --------
    >>> checked = checked_logits(np.array([[1.0, 2.0], [3.0, 1e38]]), torch.sigmoid)
    >>> checked(torch.tensor([[0.0, 1.0], [torch.nan, 1.0]]))
    Traceback (most recent call last):
    scarce.errors.FeatureError: row 1 has no finite prediction: column 1 is 1e+38, too far from the features of fit; correct ...
    """
    n_done = 0

    def checked(logits: Tensor) -> Tensor:
        nonlocal n_done
        is_invalid = (logits.isnan() | logits.isposinf()).any(dim=1)
        if is_invalid.any():
            _raise_for_row(X, n_done + int(is_invalid.int().argmax()))
        n_done += len(logits)
        return function(logits)

    return checked


def _raise_for_row(X: Any, row: int) -> None:
    values: Any = X.take([row]) if isinstance(X, Shards) else X[[row]]
    values = (values.toarray() if sparse.issparse(values) else np.asarray(values)).reshape(-1)
    column = int(np.abs(values).argmax())
    raise FeatureError(
        f"row {row} has no finite prediction: column {column} is {values[column]:g}, too far from the features of fit; correct the "
        "value, or leave the row out."
    )


def check_saved_weights(state: Mapping[str, Tensor], make: Callable[[], nn.Module] | None) -> None:
    """Raise `ValueError` if saved weights are not finite, or if a described network would have other shapes.

    `make` makes the network; it is made without memory here, because a description may ask for a network of any size. It is
    None for the user's own network, whose buffers may contain infinities, such as those of masks.

    Examples
    --------
    >>> check_saved_weights({"bias": torch.zeros(3), "weight": torch.zeros(3, 2)}, lambda: nn.Linear(10**7, 10**7))
    Traceback (most recent call last):
    ValueError: the settings describe weight of shape (10000000, 10000000), and the saved one has shape (3, 2)
    """
    for name, weights in state.items():
        is_invalid = weights.isnan() if make is None else ~weights.isfinite()
        if is_invalid.any():
            raise ValueError(f"the weights {name} are not finite")
    if make is None:
        return
    with torch.device("meta"):
        described = make().state_dict()
    for name, weights in described.items():
        if name in state and weights.shape != state[name].shape:
            raise ValueError(
                f"the settings describe {name} of shape {tuple(weights.shape)}, and the saved one has shape "
                f"{tuple(state[name].shape)}"
            )
    if missing := sorted(described.keys() ^ state.keys()):
        raise ValueError(f"the weights {missing[0]} are saved and not described, or described and not saved")
