"""Gaussian noise on training inputs; it depends on seed, epoch and step, and not on the number of processes."""

import numpy as np
import torch
from torch import Tensor, nn

from scarce.models import ScalePixels, Standardize


def input_scale(model: nn.Module) -> Tensor | float:
    """Return the standard deviation of columns, or the range of pixels, if the first layer of the model scales them, else 1.

    Examples
    --------
    >>> input_scale(nn.Sequential(Standardize(torch.zeros(2), torch.tensor([1.0, 4.0])), nn.Linear(2, 3))).tolist()
    [1.0, 4.0]
    >>> input_scale(nn.Linear(2, 3))
    1.0
    """
    first = next(iter(model.children()), None) if isinstance(model, nn.Sequential) else None
    return first.scale if isinstance(first, (Standardize, ScalePixels)) else 1.0


def add_noise(
    inputs: Tensor,
    strength: float,
    scale: Tensor | float,
    n_rows: int,
    local_rows: slice,
    seed: tuple[int, ...],
) -> Tensor:
    """Return x + strength · scale · ε, ε ~ N(0, 1), for the local rows of a batch.

    Every process draws the noise of the whole batch, so that a row gets the same noise as in a single process.

    Parameters
    ----------
    inputs : Tensor of shape (B', ...)
        The rows of the batch that this process computes.
    strength : float
        The standard deviation of the noise, in units of `scale`.
    scale : Tensor or float
        The standard deviation of the inputs.
    n_rows : int
        B, the number of rows of the whole batch.
    local_rows : slice
        Which rows of the batch this process computes.
    seed : tuple of int
        Random seed; the same seed gives the same noise.

    Examples
    --------
    >>> whole = add_noise(torch.zeros(4, 2), 0.5, 1.0, 4, slice(0, 4), (0, 7))
    >>> torch.equal(add_noise(torch.zeros(1, 2), 0.5, 1.0, 4, slice(2, 3), (0, 7)), whole[2:3])
    True
    """
    state = int(np.random.SeedSequence(seed).generate_state(1)[0])
    noise = torch.randn(n_rows, *inputs.shape[1:], generator=torch.Generator().manual_seed(state))[local_rows]
    return inputs + (strength * scale * noise.to(inputs.device)).to(inputs.dtype)
