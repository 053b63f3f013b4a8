"""The models of TOML tables and JSON records, and their errors in one line."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from scarce._validation import shorten

UNION_TAGS = ("a name", "a table", "classifiers", "networks")
"""The tags of unions, which pydantic inserts into the location of an error though the file does not have them."""

# In place of pydantic's messages, which are in terms of Python.
_MESSAGES = {
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "too_short": "expected at least one",
    "model_type": "expected a name or a table in braces",
    "dict_type": "expected a table in braces",
}


class TomlModel(BaseModel):
    """A table of a TOML file, in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StrictModel(BaseModel):
    """Plain data that is frozen, and validated without conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def describe_error(error: ValidationError, known: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return the first problem in one line: where it is, what was found, and what was expected.

    Parameters
    ----------
    error : ValidationError
        Of a model of this package.
    known : mapping, optional
        For a file that a user writes: the names of the fields at the top level, by an empty text, and of the tables in each field.

    Examples
    --------
    >>> class Curve(StrictModel):
    ...     loss: list[float]
    >>> try:
    ...     Curve.model_validate({"loss": [0.5, "x"]})
    ... except ValidationError as error:
    ...     print(describe_error(error))
    loss.1: input should be a valid number, got 'x'
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
        return f"the field {field} is missing{'; add it' if known else ''}"
    message = " ".join(first["msg"].removeprefix("Value error, ").split()).rstrip(".")
    if first["type"] != "value_error":
        message = _MESSAGES.get(first["type"], f"{message[:1].lower()}{message[1:]}")
        message = f"{message}, got {shorten(first['input'])}"
    return f"{field}: {message}" if field else message
