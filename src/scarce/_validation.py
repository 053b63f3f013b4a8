"""Parameter checks shared by all packages.

A check is called ``check_…``; it returns the checked value, or raises an error that says what was found and what was expected.
Invalid parameters raise a `MethodError`, invalid class priors a `PriorError`.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from scarce._arrays import Array, FloatArray
from scarce.errors import MethodError, PriorError, ScarceError

Target = TypeVar("Target", bound=Callable[..., Any])

# Probabilities printed to three decimals may sum to .999, which is rejected; rounding errors of doubles are accepted.
_SUM_TOLERANCE = 1e-6
_PRIORS_TOLERANCE = 1e-3  # accepts priors typed with three decimals
_MAX_SHOWN_BITS, _MAX_WORD = 256, 200
_MAX_MAGNITUDE = 1e150  # the square of a larger number may overflow


def abbreviate(values: Iterable[Any], limit: int = 5) -> str:
    """Return the first few values as text and the number of the others, for an error message.

    Examples
    --------
    >>> abbreviate(range(9))
    '0, 1, 2, 3, 4 and 4 more'
    """
    values = list(values)
    rest = len(values) - limit
    return ", ".join(map(_word, values[:limit])) + (f" and {rest} more" if rest > 0 else "")


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and len(text) <= _MAX_WORD else shorten(text)


def shorten(value: Any, limit: int = 80) -> str:
    """Return a value as one line of at most `limit` characters, for an error message.

    Examples
    --------
    >>> shorten(list(range(1000)), limit=20)
    '[0, 1, 2, 3, 4, 5...'
    >>> shorten(10**5000)
    'an integer of 16610 bits'
    """
    if (
        isinstance(value, int) and value.bit_length() > _MAX_SHOWN_BITS
    ):  # Python refuses to print 4,300 digits
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # nested too deeply, or an object that cannot be shown
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def check_option(name: str, value: Any, options: Iterable[Any], *, also: str = "") -> Any:
    """Check that a value is one of the allowed options, and return it.

    Parameters
    ----------
    name : str
        The name of the parameter.
    value : object
        Its value.
    options : iterable
        The allowed values.
    also : str
        What else the caller accepts, for the message; the caller checks for it first.

    Examples
    --------
    >>> check_option("schedule", "linear", ["cosine", "constant"])
    Traceback (most recent call last):
    scarce.errors.MethodError: schedule='linear' is unknown; expected 'cosine' or 'constant'.
    >>> check_option("recipe", 3, ["paper", "annealed"], also="a Recipe")
    Traceback (most recent call last):
    scarce.errors.MethodError: recipe=3 is unknown; expected 'paper', 'annealed' or a Recipe.
    """
    options = list(options)
    if any(value is option or (type(value) is type(option) and bool(value == option)) for option in options):
        return value
    *first, last = [*map(repr, options), *([also] if also else [])]
    raise MethodError(
        f"{name}={shorten(value)} is unknown; expected {' or '.join([', '.join(first), last] if first else [last])}."
    )


def check_flag(name: str, value: Any) -> bool:
    """Check that a value is True or False, and return it as a bool.

    Examples
    --------
    >>> check_flag("mixup", 1)
    Traceback (most recent call last):
    scarce.errors.MethodError: mixup=1; expected True or False.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise MethodError(f"{name}={shorten(value)}; expected True or False.")
    return bool(value)


def check_number(
    name: str,
    value: Any,
    low: float = 0.0,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Check that a value is a finite number from `low` to `high`; `open_low` and `open_high` exclude the limit itself.

    Examples
    --------
    >>> check_number("beta", -1)
    Traceback (most recent call last):
    scarce.errors.MethodError: beta=-1; expected a number of at least 0.
    >>> check_number("dropout", 1, high=1, open_high=True)
    Traceback (most recent call last):
    scarce.errors.MethodError: dropout=1; expected a number of at least 0 and below 1.
    """
    _check_machine_integer(name, value)
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if (
        not math.isfinite(number)
        or not low <= number <= high
        or (open_low and number == low)
        or (open_high and number == high)
    ):
        raise MethodError(
            f"{name}={shorten(value)}; expected a number{_span(low, high, open_low, open_high)}."
        )
    return number


def check_integer(name: str, value: Any, low: int = 0, high: int | None = None) -> int:
    """Check that a value is a whole number from `low` to `high`, and return it as an int.

    Examples
    --------
    >>> check_integer("draws", 0, 1)
    Traceback (most recent call last):
    scarce.errors.MethodError: draws=0; expected a whole number of at least 1.
    """
    _check_machine_integer(name, value)
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        raise MethodError(
            f"{name}={shorten(value)}; expected a whole number{_span(low, math.inf if high is None else high)}."
        )
    return int(value)


def _check_machine_integer(name: str, value: Any) -> None:
    """Raise if a whole number has more than 64 bits, which neither NumPy nor torch can hold."""
    if isinstance(value, Integral) and not -(2**63) <= int(value) < 2**63:
        raise MethodError(
            f"{name}={shorten(value)}; expected a whole number below 2^63, or a decimal number such as 1e20."
        )


def _span(low: float, high: float, open_low: bool = False, open_high: bool = False) -> str:
    if low == -math.inf and high == math.inf:
        return ""
    if high < math.inf and not (open_low or open_high):
        return f" from {_limit(low)} to {_limit(high)}"
    above = f" above {_limit(low)}" if open_low else f" of at least {_limit(low)}"
    return above + ("" if high == math.inf else f" and {'below' if open_high else 'at most'} {_limit(high)}")


def _limit(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def check_probability(name: str, value: Any) -> float:
    """Check that a value is one probability, and return it as a float.

    Examples
    --------
    >>> check_probability("error_rate", 4)
    Traceback (most recent call last):
    scarce.errors.MethodError: error_rate=4; expected a probability from 0 to 1.
    """
    numbers = _as_floats(name, value)
    if numbers.ndim or not 0 <= numbers <= 1:
        raise MethodError(f"{name}={shorten(value)}; expected a probability from 0 to 1.")
    return float(numbers)


def check_per_class(name: str, value: Any, classes: Array) -> FloatArray:
    """Return one probability per class, shape (q,); a single number applies to all classes.

    Examples
    --------
    >>> check_per_class("c", 0.5, np.array(["cat", "cow", "dog"])).tolist()
    [0.5, 0.5, 0.5]
    """
    numbers = _as_floats(name, value)
    if numbers.shape not in ((), (len(classes),)):
        raise MethodError(
            f"{name} has shape {numbers.shape}; expected one number, or one for each of the {len(classes)} classes."
        )
    numbers = np.broadcast_to(numbers, len(classes))
    outside = ~((numbers >= 0) & (numbers <= 1))
    if outside.any():
        first = int(np.argmax(outside))
        raise MethodError(
            f"{name} of class {classes[first]} is {numbers[first]:g}; expected a probability from 0 to 1."
        )
    return numbers


def check_probabilities(
    name: str, value: Any, length: int, meaning: str, *, tolerance: float = _SUM_TOLERANCE
) -> FloatArray:
    """Check that a value is `length` probabilities that sum to one, and return them as an array.

    Examples
    --------
    >>> check_probabilities("sizes", [0.5, 0.4], 2, "one probability for each size")
    Traceback (most recent call last):
    scarce.errors.MethodError: sizes sums to 0.9; expected 1: divide it by its sum.
    """
    numbers = _as_floats(name, value)
    if numbers.shape != (length,):
        raise MethodError(f"{name} has shape {numbers.shape}; expected {length} numbers, {meaning}.")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise MethodError(f"{name} contains a negative or missing number; expected probabilities, {meaning}.")
    total = numbers.sum()
    if abs(total - 1) > tolerance:
        raise MethodError(f"{name} sums to {total:.4g}; expected 1: divide it by its sum.")
    return numbers


def check_transition(transition: Any, classes: Array, *, tolerance: float = _SUM_TOLERANCE) -> FloatArray:
    """Check a row-stochastic q × q matrix, and return it: row y is the distribution p(excluded class | true class y).

    Examples
    --------
    >>> check_transition([[0, 1], [1, 0]], np.array(["cat", "dog"])).shape
    (2, 2)
    """
    matrix, q = _as_floats("transition", transition), len(classes)
    if matrix.shape != (q, q):
        raise MethodError(
            f"transition has shape {matrix.shape}; expected {q} × {q}, one row per true class "
            "(pass classes=[...] if some of them do not occur in y)."
        )
    for name, row in zip(classes, matrix, strict=True):
        check_probabilities(
            f"transition, row of true class {name},", row, q, "one per excluded class", tolerance=tolerance
        )
    return matrix


def check_priors(priors: Any, classes: Array) -> FloatArray:
    """Check that priors are q numbers of at least 0 that sum to one within 0.001, and return them as an array.

    Examples
    --------
    >>> check_priors([0.5, 0.6], np.array(["cat", "dog"]))
    Traceback (most recent call last):
    scarce.errors.PriorError: the priors sum to 1.1; expected 1. Divide them by their sum if they are counts.
    """
    try:
        values = np.asarray(priors, float)
    except (TypeError, ValueError, OverflowError):
        raise PriorError(f"priors is {shorten(priors)}; expected {len(classes)} numbers.") from None
    if values.shape != (len(classes),):
        raise PriorError(f"priors has shape {values.shape}; expected {len(classes)} numbers, one per class.")
    if not np.isfinite(values).all() or (values < 0).any():
        worst = int(np.argmin(np.where(np.isfinite(values), values, -np.inf)))
        raise PriorError(
            f"the prior of class {classes[worst]} is {values[worst]}; expected numbers of at least 0."
        )
    if abs(values.sum() - 1) > _PRIORS_TOLERANCE:
        raise PriorError(
            f"the priors sum to {values.sum():.4g}; expected 1. Divide them by their sum if they are counts."
        )
    return values


def check_numbers(
    values: Any, what: str, *, ndim: int = 1, error: type[ScarceError] = PriorError
) -> FloatArray:
    """Check that values are finite numbers, and return them as a non-empty array of `ndim` dimensions.

    Parameters
    ----------
    values : array of shape (n,) or (n, d)
        The numbers.
    what : str
        What they are, in the plural; for the message.
    ndim : {1, 2}
        The number of dimensions.
    error : type
        The error to raise.

    Examples
    --------
    >>> check_numbers([], "the scores of positives")
    Traceback (most recent call last):
    scarce.errors.PriorError: the scores of positives have shape (0,); expected at least one number.
    """
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise error(f"{what} cannot be read as numbers; expected a dense numeric array.") from None
    if not (np.abs(array) < _MAX_MAGNITUDE).all():
        found = array[~(np.abs(array) < _MAX_MAGNITUDE)].flat[0]
        raise error(f"{what} hold {found:g}; expected finite numbers: fill in or drop missing values.")
    if array.ndim != ndim or not array.size:
        expected = "at least one number" if ndim == 1 else "rows × columns, at least one of each"
        raise error(f"{what} have shape {array.shape}; expected {expected}.")
    return array


def _as_floats(name: str, value: Any) -> FloatArray:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MethodError(f"{name}={shorten(value)} is not understood; expected numbers.") from error


def renamed_parameters(**new_names: str) -> Callable[[Target], Target]:
    """Return a decorator for a class or function with renamed parameters: passing an old name raises a `MethodError`.

    The decorator keeps the signature of the function, or of the constructor of the class.

    Parameters
    ----------
    **new_names : str
        The new name of each renamed parameter, by its old name: ``old="new"``.

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
    """Raise a `MethodError` if `params` uses an old parameter name of `target`; the message calls it `name`."""
    for old, new in parameter_renames(target).items():
        if old in params:
            raise MethodError(f"{name} has no parameter {old!r}; it is now called {new!r}.")
