"""Batched inference: logits of all rows, and their mean loss under a method."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Method
from scarce.training._batches import BatchReader, as_source, input_dtype


def map_logits(
    model: nn.Module,
    inputs: Any,
    function: Callable[[Tensor], Tensor],
    *,
    batch_size: int = 1024,
    device: str | torch.device = "cpu",
) -> Tensor:
    """Return ``function(logits)`` for all rows, computed batch by batch in evaluation mode.

    Only the results of `function` are kept, so the (n, q) logits of all rows are never in memory.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    inputs : array, tensor, sparse matrix or Dataset
        One row per example, as `train` takes them.
    function : callable
        Maps the logits of a batch, of shape (B, q) on `device`, to a tensor of shape (B, ...).
    batch_size : int
        The number of rows per batch.
    device : str or torch.device
        The device of the model.

    Returns
    -------
    Tensor of shape (n, ...)
        The results of all rows, on the CPU.

    See Also
    --------
    predict_logits : Return the logits themselves.

    Examples
    --------
    >>> import numpy as np
    >>> map_logits(nn.Linear(3, 2), np.zeros((5, 3)), lambda logits: logits.argmax(dim=1)).shape
    torch.Size([5])
    """
    source = as_source(inputs)
    with _evaluation_mode(model):
        indices = list(torch.arange(len(source)).split(batch_size))  # type: ignore[no-untyped-call]
        batches = source.batches(indices, input_dtype(model))
        all_values = torch.empty(0)
        for index, rows in zip(indices, batches, strict=True):
            values = function(model(rows.to(device))).cpu()
            if not len(
                all_values
            ):  # allocate once: small results between large batches would fragment the heap
                all_values = values.new_empty(len(source), *values.shape[1:])
            all_values[index] = values
        return all_values


def predict_logits(
    model: nn.Module, inputs: Any, *, batch_size: int = 1024, device: str | torch.device = "cpu"
) -> Tensor:
    """Return the logits of all rows, computed in evaluation mode.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    inputs : array, tensor, sparse matrix or Dataset
        One row per example, as `train` takes them.
    batch_size : int
        The number of rows per batch.
    device : str or torch.device
        The device of the model.

    Returns
    -------
    Tensor of shape (n, q)
        The logits, on the CPU.

    See Also
    --------
    map_logits : Keep only a function of the logits, which needs less memory.

    Examples
    --------
    >>> import numpy as np
    >>> predict_logits(nn.Linear(3, 2), np.zeros((5, 3))).shape
    torch.Size([5, 2])
    """
    return map_logits(model, inputs, lambda logits: logits, batch_size=batch_size, device=device)


def mean_loss(
    model: nn.Module,
    method: Method,
    inputs: Any,
    labels: ComplementaryLabels,
    *,
    batch_size: int = 1024,
    device: str | torch.device = "cpu",
) -> float:
    """Return the mean loss over all rows, in evaluation mode, of a method whose `loss_is_likelihood`.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    method : Method
        A prepared method; the rows need not be those it was prepared with.
    inputs : array, tensor, sparse matrix or Dataset
        One row per example, as `train` takes them.
    labels : ComplementaryLabels
        The labels of these rows.
    batch_size : int
        The number of rows per batch.
    device : str or torch.device
        The device of the model.

    See Also
    --------
    map_logits, predict_logits : Predict with a model.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.methods import Problem, make_method
    >>> labels, method = ComplementaryLabels.from_single([0, 1, 1], classes=2), make_method("least-excluded")
    >>> method.prepare(Problem(labels))
    >>> knows_nothing = nn.Linear(3, 2)
    >>> _ = [nn.init.zeros_(weights) for weights in knows_nothing.parameters()]
    >>> round(mean_loss(knows_nothing, method, np.zeros((3, 3)), labels), 4)  # log 2
    0.6931
    """
    reader = BatchReader.of(model, as_source(inputs), labels, torch.device(device))
    evaluated = method.for_labels(labels)
    with _evaluation_mode(model):
        indices = list(torch.arange(labels.n_examples).split(batch_size))  # type: ignore[no-untyped-call]
        losses = (
            len(batch.index) * evaluated.loss(model(batch.inputs), batch).item()
            for batch in reader.read(indices)
        )
        return sum(losses) / labels.n_examples


@contextmanager
def _evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Set a model to evaluation mode, without gradients; restore the modes of its modules afterwards."""
    modes = [(module, module.training) for module in model.modules()]  # they may differ
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode
