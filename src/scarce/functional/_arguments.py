"""Checks of the arguments of a loss; each returns tensors in the dtype and on the device of the logits.

Reading a value from a GPU makes the program wait for it, so each check reads one value at most.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce._validation import check_priors
from scarce.errors import LabelError, MethodError
from scarce.methods._transition import check_excludes_others

Numbers = Tensor | NDArray[Any] | Sequence[Any]

_INTEGER_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_rows(logits: Tensor, excluded: Tensor) -> tuple[Tensor, Tensor]:
    """Return logits and ȳ, both of shape (n, q), with ȳ as 0 and 1 in the dtype of the logits.

    Examples
    --------
    >>> check_rows(torch.zeros(1, 2), torch.tensor([[True, False]]))[1].tolist()
    [[1.0, 0.0]]
    """
    if not isinstance(logits, Tensor) or logits.dim() != 2 or len(logits) < 1 or logits.shape[1] < 2:
        raise MethodError(
            f"logits {_found(logits)}; expected a tensor of shape (n, q), one row per example and one column for each of "
            "q ≥ 2 classes: pass logits[None] for a single example."
        )
    if not logits.dtype.is_floating_point:
        raise MethodError(f"logits has dtype {logits.dtype}; expected a float: pass logits.float().")
    if not isinstance(excluded, Tensor) or excluded.shape != logits.shape:
        raise LabelError(
            f"excluded {_found(excluded)}; expected a tensor of shape {tuple(logits.shape)} like logits, True where a class is "
            "excluded: pass torch.from_numpy(labels.indicator()) for all rows."
        )
    indicator = excluded.to(logits)
    is_binary = (indicator == 0) | (indicator == 1)
    excludes_all = indicator.amin(dim=1) > 0  # many times faster than all(dim=1)
    if is_binary.all() & ~excludes_all.any():
        return logits, indicator
    if not is_binary.all():
        raise LabelError(
            f"excluded holds {indicator[~is_binary][0].item():g}; expected True and False, or 1 and 0: pass "
            "excluded > 0 if other numbers mark an excluded class."
        )
    row = int(excludes_all.int().argmax())
    raise LabelError(
        f"row {row} excludes every class; expected at least one possible class: drop the row, or set excluded[{row}, k] = "
        "False for a class k."
    )


def check_one_per_row(excluded: Tensor, instead: str) -> None:
    """Check that no row excludes more than one class; `instead` is the call or option for rows that do.

    Examples
    --------
    >>> check_one_per_row(torch.tensor([[1, 1, 0]]), "single_label=False")
    Traceback (most recent call last):
    scarce.errors.LabelError: row 0 excludes 2 classes; expected at most one: use single_label=False.
    """
    counts = excluded.sum(dim=1)
    if counts.max() > 1:
        row = int(counts.argmax())
        raise LabelError(
            f"row {row} excludes {int(counts[row])} classes; expected at most one: use {instead}."
        )


def check_asked(asked: Tensor, excluded: Tensor) -> Tensor:
    """Return which classes were asked about, as a bool tensor of shape (n, q); every excluded class must be among them."""
    if not isinstance(asked, Tensor) or asked.shape != excluded.shape:
        raise LabelError(
            f"asked {_found(asked)}; expected a tensor of shape {tuple(excluded.shape)} like excluded, True where a question was "
            "answered: pass asked=excluded if every answer is no."
        )
    is_asked = asked.to(excluded.device) > 0
    if (excluded * ~is_asked).any():
        raise LabelError(
            "excluded holds a class that was not asked about; expected excluded only where asked: pass asked=asked | excluded."
        )
    return is_asked


def check_confirmed(confirmed: Tensor | None, logits: Tensor) -> Tensor | None:
    """Return the confirmed class of every row, of shape (n,), −1 where it is unknown; None stays None."""
    if confirmed is None:
        return None
    n, q = logits.shape
    if not isinstance(confirmed, Tensor) or confirmed.shape != (n,):
        raise LabelError(
            f"confirmed {_found(confirmed)}; expected a tensor of shape {(n,)}, the class of each row or −1: pass "
            "torch.as_tensor(labels.confirmed) for all rows."
        )
    if confirmed.dtype not in _INTEGER_DTYPES:
        raise LabelError(f"confirmed has dtype {confirmed.dtype}; expected integers: pass confirmed.long().")
    if ((confirmed < -1) | (confirmed >= q)).any():
        raise LabelError(
            f"confirmed ranges from {confirmed.min()} to {confirmed.max()}; expected −1 to {q - 1}: pass a class index, or −1 "
            "where the class is unknown."
        )
    return confirmed.to(logits.device, torch.int64)


def as_priors(priors: Numbers, logits: Tensor) -> Tensor:
    """Return π of shape (q,), which sums to one."""
    return _like(check_priors(_as_numpy("priors", priors), np.arange(logits.shape[1])), logits)


def as_rates(rates: Numbers, logits: Tensor) -> Tensor:
    """Return π̄ of shape (q,), the fraction of the training rows that exclude each class."""
    values = _probabilities("rates", rates, (logits.shape[1],), "pass rates=labels.rates")
    if not values.any():
        raise MethodError("rates are all 0, so no class is ever excluded; pass rates=labels.rates.")
    return _like(values, logits)


def as_probabilities(
    name: str, value: Numbers | float, shape: tuple[int, ...], logits: Tensor, fix: str
) -> Tensor:
    """Return numbers from 0 to 1, broadcast to this shape.

    Examples
    --------
    >>> as_probabilities("error_rate", 0.5, (2,), torch.zeros(1, 2), "").tolist()
    [0.5, 0.5]
    """
    return _like(_probabilities(name, value, shape, fix), logits)


def as_class_weights(name: str, value: Numbers, logits: Tensor) -> Tensor:
    """Return weights of shape (q,), none of them negative."""
    values, q = _as_numpy(name, value), logits.shape[1]
    if values.shape != (q,) or not (np.isfinite(values) & (values >= 0)).all():
        raise MethodError(
            f"{name}={value!r}; expected {q} numbers of at least 0, one per class: pass "
            "scarce.risk.confirmation_weights(labels)."
        )
    return _like(values, logits)


def as_row_weights(name: str, weights: Tensor, logits: Tensor) -> Tensor:
    """Return weights of shape (n, q), none of them negative, without a gradient."""
    if not isinstance(weights, Tensor) or weights.shape != logits.shape:
        raise MethodError(
            f"{name} {_found(weights)}; expected a tensor of shape {tuple(logits.shape)} like logits: pass {name}[index], "
            "the rows of this batch."
        )
    values = weights.detach().to(logits)
    if not (values >= 0).all():
        raise MethodError(
            f"{name} holds a negative or missing number; expected numbers of at least 0: pass {name}.clamp(min=0)."
        )
    return values


def as_log_transition(transition: Numbers, logits: Tensor) -> Tensor:
    """Return log T of shape (q, q), with zeros replaced by 10⁻¹²; a matrix that requires a gradient keeps it, unchecked.

    Examples
    --------
    >>> as_log_transition([[0.0, 1.0], [1.0, 0.0]], torch.zeros(1, 2)).exp().round().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    q = logits.shape[1]
    matrix: Any
    is_trained = isinstance(transition, Tensor) and transition.requires_grad
    matrix = transition if is_trained else _as_numpy("transition", transition)
    if matrix.shape != (q, q):
        raise MethodError(
            f"transition has shape {tuple(matrix.shape)}; expected {(q, q)}: pass one row per true class and one column per "
            "excluded class."
        )
    if isinstance(matrix, np.ndarray):
        matrix = _like(check_excludes_others(matrix, np.arange(q)), logits)
    log_transition: Tensor = matrix.to(logits).clamp(min=1e-12).log()
    return log_transition


def _probabilities(name: str, value: Any, shape: tuple[int, ...], fix: str) -> NDArray[np.float64]:
    values = _as_numpy(name, value)
    try:
        values = np.broadcast_to(values, shape)
    except ValueError:
        raise MethodError(f"{name} has shape {values.shape}; expected {shape}: {fix}.") from None
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        raise MethodError(f"{name} holds {values[outside][0]:g}; expected probabilities from 0 to 1: {fix}.")
    return values


def _as_numpy(name: str, value: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(value.detach().cpu() if isinstance(value, Tensor) else value, np.float64)
    except (TypeError, ValueError):
        raise MethodError(
            f"{name}={value!r}; expected numbers: pass a tensor, an array or a list of them."
        ) from None


def _like(values: NDArray[np.float64], logits: Tensor) -> Tensor:
    return torch.tensor(values, dtype=logits.dtype).to(logits.device, non_blocking=True)


def _found(value: object) -> str:
    return (
        f"has shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"has type {type(value).__name__}"
    )
