"""Parameters as files give them: of a kind that a record can hold, and tried before anything is run."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Annotated, Any

from pydantic import AfterValidator

from scarce.simulate import simulate

__all__ = ["Params", "try_process"]

_OF_THE_TRIAL = ("classes", "seed")


def _check_json_values(params: dict[str, Any]) -> dict[str, Any]:
    for name, value in params.items():
        for part in _parts(value):
            if not isinstance(part, str | int | float) or (isinstance(part, float) and not isfinite(part)):
                raise ValueError(
                    f"{name} holds {part}; expected finite numbers, texts, true or false, or lists and tables of these"
                )
    return params


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)
    else:
        yield value


Params = Annotated[dict[str, Any], AfterValidator(_check_json_values)]
"""What JSON can hold and give back as it was, so neither dates nor infinite numbers."""


def try_process(process: str, params: Mapping[str, Any], n_classes: int) -> None:
    """Draw labels once for one example of every class, and raise what is wrong with the parameters.

    Rates are not held against the shares of the classes, which are only known with the data.

    Examples
    --------
    >>> try_process("scar", {"rates": [0.95] + [0.1] * 9}, 10)
    >>> try_process("scar", {"ratez": 0.2}, 10)
    Traceback (most recent call last):
    scarce.errors.MethodError: the process 'scar' takes no 'ratez'; it takes c, rates, error_rate, classes, seed.
    """
    for name in _OF_THE_TRIAL:
        if name in params:
            raise ValueError(f"every trial has {name} of its own; leave it out")
    try:
        simulate(process, range(n_classes), classes=n_classes, **params)
    except (TypeError, ValueError) as error:
        # A rate that these shares do not allow may be right for others: as a probability of every class it is free of them.
        without = {name: value for name, value in params.items() if name != "rates"}
        if len(without) == len(params) or "c" in params:
            raise
        try:
            simulate(process, range(n_classes), classes=n_classes, c=params["rates"], **without)
        except (TypeError, ValueError):
            raise error from None
