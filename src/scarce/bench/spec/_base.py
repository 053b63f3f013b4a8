"""The models of TOML tables and JSON records, and their errors in one line."""

import re
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from scarce._validation import shorten

UNION_TAGS = ("a name", "a table", "classifiers", "networks")
"""The tags of unions, which pydantic inserts into the location of an error though the file does not have them."""

# In place of pydantic's messages, which are in terms of Python.
_EXPECTED = {
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": "at least one",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a string",
    "bool_type": "true or false",
    "string_pattern_mismatch": "letters, digits, '.', '_' or '-', starting with a letter or digit",
}
_EXPECTED_IN_TOML = {"model_type": "a name or a table in braces", "dict_type": "a table in braces"}
_EXPECTED_IN_JSON = {"model_type": "an object", "dict_type": "an object"}


class TomlModel(BaseModel):
    """A table of a TOML file, in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StrictModel(BaseModel):
    """Plain data that is frozen, and validated without conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def describe_error(error: ValidationError, known: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return the first problem in one line: where it is, what was expected, and what was found.

    Parameters
    ----------
    error : ValidationError
        From validating a model of this package.
    known : mapping, optional
        For TOML files: the names of the fields at the top level, under the empty string, and of the tables in each field.
        None for JSON records.

    Examples
    --------
    >>> class Curve(StrictModel):
    ...     loss: list[float]
    >>> try:
    ...     Curve.model_validate({"loss": [0.5, "x"]})
    ... except ValidationError as error:
    ...     print(describe_error(error))
    loss.1: expected a number, got 'x'
    """
    first = error.errors()[0]
    location = [part for part in first["loc"] if part not in UNION_TAGS]
    if location[:1] == ["grids"]:
        location = location[2:]  # the file has neither this name nor a number of the grid
    field = shorten(".".join(map(str, location)), limit=120)[1:-1]
    if first["type"] == "extra_forbidden":
        text = f"there is no field {field}"
        table = str(location[0]) if len(location) > 1 else ""
        return f"{text}; expected {', '.join(known.get(table, known['']))}" if known else text
    if first["type"] == "missing":
        return f"the field {field!r} is missing{'; add it' if known else ''}"
    message = " ".join(first["msg"].removeprefix("Value error, ").split()).rstrip(".")
    if first["type"] != "value_error":
        expected = _EXPECTED | (_EXPECTED_IN_TOML if known else _EXPECTED_IN_JSON)
        rest = re.sub("^(greater|less) than", r"a number \g<0>", message.removeprefix("Input should be "))
        message = f"expected {expected.get(first['type'], rest)}, got {shorten(first['input'])}"
    return f"{field}: {message}" if field else message
