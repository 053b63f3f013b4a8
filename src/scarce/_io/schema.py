"""Schemas of saved files: checks of plain data, put together from smaller ones.

A check takes a value and its place in the file; it raises a `Mismatch` that names the place, what was found and what was expected.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from scarce._validation import shorten

Check = Callable[[Any, str], None]

_MAX_INTEGER = 2**63 - 1


class Mismatch(ValueError):  # noqa: N818
    """A value that does not have the expected type or range."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__(f"{where or 'the content'} is {found}; expected {expected}")


def anything(value: Any, where: str) -> None:
    """Accept any value."""


def text(value: Any, where: str) -> None:
    """Check for text.

    Examples
    --------
    >>> text(3, "title")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: title is 3; expected text
    """
    if not isinstance(value, str):
        raise Mismatch(where, shorten(value), "text")


def flag(value: Any, where: str) -> None:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise Mismatch(where, shorten(value), "true or false")


def integer(low: int = 0, high: int = _MAX_INTEGER) -> Check:
    """Return a check for a whole number from `low` to `high`.

    Examples
    --------
    >>> integer(1, 5)(7, "epoch")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: epoch is 7; expected a whole number from 1 to 5
    """
    expected = f"a whole number from {low} to {high}" if high < _MAX_INTEGER else f"a whole number ≥ {low}"

    def check(value: Any, where: str) -> None:
        if type(value) is not int or not low <= value <= high:
            raise Mismatch(where, shorten(value), expected)

    return check


def number(low: float = -math.inf, high: float = math.inf, *, finite: bool = True) -> Check:
    """Return a check for a number from `low` to `high`, which may be infinite or NaN unless `finite`.

    Examples
    --------
    >>> number(0, 1)(math.nan, "rate")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: rate is nan; expected a finite number from 0 to 1
    """
    span = "" if (low, high) == (-math.inf, math.inf) else f" from {low:g} to {high:g}"

    def check(value: Any, where: str) -> None:
        is_number = type(value) is float or (type(value) is int and abs(value) <= _MAX_INTEGER)
        if not is_number or (finite and not (math.isfinite(value) and low <= value <= high)):
            raise Mismatch(where, shorten(value), f"a {'finite ' if finite else ''}number{span}")

    return check


def one_of(*options: Any) -> Check:
    """Return a check for one of these values.

    Examples
    --------
    >>> one_of("adam", None)("sdg", "optimizer")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: optimizer is 'sdg'; expected 'adam' or None
    """

    def check(value: Any, where: str) -> None:
        if not any(_equal(value, option) for option in options):
            raise Mismatch(where, shorten(value), " or ".join(map(repr, options)))

    return check


def _equal(value: Any, option: Any) -> bool:
    try:
        return bool(type(value) is type(option) and value == option)
    except (RuntimeError, ValueError):  # a list with arrays or tensors
        return False


def optional(item: Check) -> Check:
    """Return a check for None, or a value that `item` accepts."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            item(value, where)

    return check


def list_of(item: Check, length: int | None = None) -> Check:
    """Return a check for a list whose items `item` accepts.

    Examples
    --------
    >>> list_of(integer())([1, -1], "stages")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: stages.1 is -1; expected a whole number ≥ 0
    """

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise Mismatch(where, shorten(value), "a list")
        if length is not None and len(value) != length:
            raise Mismatch(where, f"a list of {len(value)}", f"one of {length}")
        for position, each in enumerate(value):
            item(each, f"{where}.{position}")

    return check


def either(expected: str, *checks: Check) -> Check:
    """Return a check for a value that one of the checks accepts; `expected` describes them all.

    Examples
    --------
    >>> either("a number or text", number(), text)([], "value")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: value is []; expected a number or text
    """

    def check(value: Any, where: str) -> None:
        for each in checks:
            try:
                return each(value, where)
            except Mismatch:
                continue
        raise Mismatch(where, shorten(value), expected)

    return check


def mapping(item: Check, key: Check = text) -> Check:
    """Return a check for a mapping from what `key` accepts to what `item` accepts; keys are text by default."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch(where, shorten(value), "a mapping")
        for name, each in value.items():
            key(name, f"a key of {where}")
            item(each, f"{where}.{shorten(name) if not isinstance(name, str) else name[:60]}")

    return check


def fields(required: Mapping[Any, Check], others: Mapping[Any, Check] | Check | None = None) -> Check:
    """Return a check for a mapping with required fields and others: optional ones by name, or any if `others` is one check.

    Examples
    --------
    >>> fields({"epoch": integer()})({"epochs": 3}, "record 1")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: record 1 is {'epochs': 3}; expected a mapping with the field 'epoch'
    """
    optional_fields = others if isinstance(others, Mapping) else {}

    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch(where, shorten(value), "a mapping")
        for name in required:
            if name not in value:
                raise Mismatch(where, shorten(value), f"a mapping with the field {name!r}")
        for name, each in value.items():
            item = required.get(name) or optional_fields.get(name) or (others if callable(others) else None)
            if item is None:
                raise Mismatch(where, shorten(value), f"a mapping without the field {shorten(name)}")
            item(each, f"{where}.{name}" if where else str(name))

    return check


def names(value: Any, where: str) -> None:
    """Check for a list of distinct names of one type: text, whole numbers, numbers, or true and false.

    Examples
    --------
    >>> names(["cat", 3], "classes")
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: classes is ['cat', 3]; expected a list of distinct names of one type
    """
    kinds = (text, integer(-_MAX_INTEGER - 1), number(), flag)
    try:
        either("names of one type", *map(list_of, kinds))(value, where)
        is_distinct = len(set(value)) == len(value) > 0
    except Mismatch:
        is_distinct = False
    if not is_distinct:
        raise Mismatch(where, shorten(value), "a list of distinct names of one type")


def check_depth(value: Any, limit: int = 16) -> None:
    """Raise a `Mismatch` if lists and mappings are nested more than `limit` levels deep, on which recursion would fail.

    Examples
    --------
    >>> check_depth([{"a": [1]}], 2)
    Traceback (most recent call last):
    scarce._io.schema.Mismatch: the content is nested more than 2 levels deep; expected at most 2
    """
    level = [value] if isinstance(value, (list, dict)) else []
    for _ in range(limit):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for items in inside for item in items if isinstance(item, (list, dict))]
    if level:
        raise Mismatch("", f"nested more than {limit} levels deep", f"at most {limit}")


def plain(value: Any, where: str, depth: int = 8) -> None:
    """Check for numbers, text, true, false and null, and lists and mappings of these, to a depth of 8."""
    if isinstance(value, (list, dict)):
        if not depth:
            raise Mismatch(where[:200], "nested more deeply", "at most 8 levels of lists and mappings")
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            plain(each, f"{where}.{str(name)[:60]}", depth - 1)
    else:
        either("a number, text, true, false or null", number(), text, flag, one_of(None))(value, where)
