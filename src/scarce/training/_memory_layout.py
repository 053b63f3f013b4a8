"""The layout of tensors in memory, which the last bits of sums and products depend on.

A checkpoint stores the values of tensors in row-major order, without their layout. A run that continues and one that
resumes have the same bits only if the layout of their tensors is the same too.
"""

from collections.abc import Iterable

import torch
from torch import nn


def make_buffers_row_major(modules: Iterable[nn.Module]) -> None:
    """Give every buffer that is transposed, expanded or part of a larger tensor memory of its own, in row-major order.

    A method may store the result of any computation in a buffer; parameters keep the layout they were made with.

    Examples
    --------
    >>> layer = nn.Module()
    >>> layer.register_buffer("matrix", torch.arange(6.0).reshape(2, 3).T)
    >>> make_buffers_row_major([layer])
    >>> layer.matrix.tolist(), layer.matrix.stride()
    ([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], (2, 1))
    """
    for module in modules:
        for buffer in module.buffers():
            if not buffer.is_contiguous() or buffer.storage_offset():
                buffer.data = buffer.detach().clone(memory_format=torch.contiguous_format)


def lay_out_like_weights(optimizer: torch.optim.Optimizer) -> None:
    """Give the moments of an optimizer that was loaded the layout of their weights, as the optimizer itself does.

    Examples
    --------
    >>> weight = nn.Parameter(torch.zeros(2, 3).T)
    >>> optimizer = torch.optim.SGD([weight], momentum=0.9)
    >>> optimizer.state[weight] = {"momentum_buffer": torch.ones(3, 2)}
    >>> lay_out_like_weights(optimizer)
    >>> optimizer.state[weight]["momentum_buffer"].stride() == weight.stride()
    True
    """
    for weight, state in optimizer.state.items():
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and value.shape == weight.shape:
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value).detach()
