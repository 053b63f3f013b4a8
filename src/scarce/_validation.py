"""Checks that every part of the package shares."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from scarce.errors import MethodError

__all__ = ["check_renamed", "parameter_renames", "renamed_parameters"]

Target = TypeVar("Target", bound=Callable[..., Any])


def renamed_parameters(**new_names: str) -> Callable[[Target], Target]:
    """Return a decorator of a class or function whose parameters had other names: the old ones raise a `MethodError`.

    The signature that `inspect` shows is that of the function, or of the constructor of the class.

    Parameters
    ----------
    **new_names
        The new name of each parameter by its old one.

    Examples
    --------
    >>> @renamed_parameters(colour="color")
    ... def paint(color="red"):
    ...     return color
    >>> paint(color="blue")
    'blue'
    >>> paint(colour="blue")
    Traceback (most recent call last):
    scarce.errors.MethodError: paint has no parameter 'colour'; it is now called 'color'.
    """

    def decorate(target: Target) -> Target:
        function: Callable[..., Any] = vars(target)["__init__"] if isinstance(target, type) else target

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            check_renamed(target.__name__, call, kwargs)
            return function(*args, **kwargs)

        call._scarce_renamed = new_names  # type: ignore[attr-defined]
        if not isinstance(target, type):
            return call  # type: ignore[return-value]
        target.__init__ = call  # type: ignore[misc]
        return target

    return decorate


def parameter_renames(target: Any) -> Mapping[str, str]:
    """Return the new name of each renamed parameter of a class or function, by its old name.

    Examples
    --------
    >>> from scarce.simulate import ask
    >>> parameter_renames(ask)["p_miss"]
    'false_negative_rate'
    """
    function = inspect.getattr_static(target, "__init__") if isinstance(target, type) else target
    renames: Mapping[str, str] = getattr(function, "_scarce_renamed", {})
    return renames


def check_renamed(name: str, target: Any, params: Mapping[str, Any]) -> None:
    """Raise a `MethodError` if `params` holds the old name of a parameter of a class or function called `name`."""
    for old, new in parameter_renames(target).items():
        if old in params:
            raise MethodError(f"{name} has no parameter {old!r}; it is now called {new!r}.")
