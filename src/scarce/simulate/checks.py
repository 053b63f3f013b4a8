"""The numbers a process is given, checked before anything is drawn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._class_names import Array
from scarce.errors import LabelError

__all__ = ["FloatArray", "check_count", "check_probability", "check_shares", "check_transition", "per_class"]

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-6  # rows printed with three decimals sum to .999 and are refused, rounded doubles are not


def check_count(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number between `low` and `high`.

    Examples
    --------
    >>> check_count("draws", 0, 1)
    Traceback (most recent call last):
    scarce.errors.LabelError: draws=0; expected a whole number of at least 1.
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise LabelError(f"{name}={value!r}; expected a whole number {limits}.")
    return int(value)


def check_probability(name: str, value: Any) -> float:
    """Return a probability.

    Examples
    --------
    >>> check_probability("error_rate", 4)
    Traceback (most recent call last):
    scarce.errors.LabelError: error_rate=4; expected a probability from 0 to 1.
    """
    numbers = _floats(name, value)
    if numbers.ndim or not 0 <= numbers <= 1:
        raise LabelError(f"{name}={value!r}; expected a probability from 0 to 1.")
    return float(numbers)


def per_class(name: str, value: Any, classes: Array) -> FloatArray:
    """Return one probability per class; a single number stands for all classes.

    Examples
    --------
    >>> per_class("c", 0.5, np.array(["cat", "cow", "dog"])).tolist()
    [0.5, 0.5, 0.5]
    """
    numbers = _floats(name, value)
    if numbers.shape not in ((), (len(classes),)):
        raise LabelError(
            f"{name} has shape {numbers.shape}; expected one number, or one for each of the {len(classes)} classes."
        )
    numbers = np.broadcast_to(numbers, len(classes))
    odd = ~((numbers >= 0) & (numbers <= 1))
    if odd.any():
        first = int(np.argmax(odd))
        raise LabelError(
            f"{name} of class {classes[first]} is {numbers[first]:g}; expected a probability from 0 to 1."
        )
    return numbers


def check_shares(name: str, value: Any, length: int, meaning: str) -> FloatArray:
    """Return `length` probabilities that sum to one.

    Examples
    --------
    >>> check_shares("sizes", [0.5, 0.4], 2, "one probability for each size")
    Traceback (most recent call last):
    scarce.errors.LabelError: sizes sums to 0.9; expected 1: divide it by its sum.
    """
    shares = _floats(name, value)
    if shares.shape != (length,):
        raise LabelError(f"{name} has shape {shares.shape}; expected {length} numbers, {meaning}.")
    if not (np.isfinite(shares) & (shares >= 0)).all():
        raise LabelError(f"{name} holds a negative or missing number; expected probabilities, {meaning}.")
    total = shares.sum()
    if abs(total - 1) > _ROUNDING:
        raise LabelError(f"{name} sums to {total:g}; expected 1: divide it by its sum.")
    return shares


def check_transition(transition: Any, classes: Array) -> FloatArray:
    """Return a row-stochastic q × q matrix: row y holds p(excluded class | true class y).

    Examples
    --------
    >>> check_transition([[0, 1], [1, 0]], np.array(["cat", "dog"])).shape
    (2, 2)
    """
    matrix, q = _floats("the transition", transition), len(classes)
    if matrix.shape != (q, q):
        raise LabelError(
            f"the transition has shape {matrix.shape}; expected {q} × {q}, one row per true class "
            "(pass classes=[...] when y lacks some)."
        )
    for name, row in zip(classes, matrix, strict=True):
        check_shares(f"the transition's row of true class {name}", row, q, "one per excluded class")
    return matrix


def _floats(name: str, value: Any) -> FloatArray:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise LabelError(f"{name}={value!r} is not understood; expected numbers.") from error
