"""Parse the values of options: settings, classes and priors."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scarce.errors import LabelError, MethodError, PriorError

_LITERALS = {"true": True, "false": False, "none": None}


def parse_settings(settings: Iterable[str] | None) -> dict[str, Any]:
    """Return ``key=value`` pairs as a dict; values are integers, floats, booleans, strings, lists or arrays.

    Examples
    --------
    >>> parse_settings(["loss=sigmoid", "alpha=0.5", "draws=3", "distinct=true", "rates=0.1,0.2"])
    {'loss': 'sigmoid', 'alpha': 0.5, 'draws': 3, 'distinct': True, 'rates': [0.1, 0.2]}
    """
    values = {}
    for setting in settings or ():
        key, separator, value = setting.partition("=")
        if not (separator and key.strip().isidentifier()):
            raise MethodError(f"--set {setting!r} is not understood; expected key=value, such as alpha=0.5.")
        values[key.strip()] = _parse_value(value.strip())
    return values


def _parse_value(text: str) -> Any:
    if text.lower().endswith(".npy"):
        from scarce._io.arrays import read_array

        return read_array(text)
    if "," in text:
        return [_parse_scalar(part.strip()) for part in text.split(",") if part.strip()]
    return _parse_scalar(text)


def _parse_scalar(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return _LITERALS.get(text.lower(), text)


@contextmanager
def translate_type_errors(settings: dict[str, Any]) -> Iterator[None]:
    """Raise a `MethodError` in place of the `TypeError` that a value of the wrong type causes.

    Examples
    --------
    >>> with translate_type_errors({"alpha": "much"}):
    ...     "much" < 1
    Traceback (most recent call last):
    scarce.errors.MethodError: a value of --set has the wrong type: got alpha='much' ('<' not supported ...).
    """
    try:
        yield
    except TypeError as error:
        given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        raise MethodError(f"a value of --set has the wrong type: got {given} ({error}).") from error


def parse_classes(text: str | None) -> Any:
    """Return class names separated by commas as an array; a single number n stands for the classes 0 to n − 1.

    Examples
    --------
    >>> parse_classes("cat, dog").tolist(), parse_classes("10")
    (['cat', 'dog'], 10)
    """
    if text is None:
        return None
    from scarce._io.tables import as_names

    texts = [name.strip() for name in text.split(",")]
    if "" in texts:
        raise LabelError(f"--classes {text!r} holds an empty name; expected names such as cat,cow,dog.")
    names = as_names(texts)
    return int(names[0]) if len(names) == 1 and names.dtype.kind == "i" else names


def parse_priors(text: str) -> Any:
    """Return the value of ``--priors``: a name, numbers, numbers by class, or the content of a JSON file.

    Examples
    --------
    >>> parse_priors("uniform"), parse_priors("0.3,0.7"), parse_priors("cat=0.3,dog=0.7")
    ('uniform', [0.3, 0.7], {'cat': 0.3, 'dog': 0.7})
    """
    if text.lower().endswith(".json") or Path(text).is_file():
        from scarce._io.json import read_json
        from scarce.priors.io import is_estimate, load_priors

        stored = read_json(text)
        return load_priors(text) if is_estimate(stored) else stored
    if "," not in text and "=" not in text:
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        numbers = [float(number) for _, _, number in pairs]
    except ValueError:
        raise PriorError(
            f"--priors {text!r} is not understood; expected estimate, uniform, answers, numbers such as 0.3,0.7 or "
            "cat=0.3,dog=0.7, or a JSON file of numbers."
        ) from None
    if not any(separator for _, separator, _ in pairs):
        return numbers
    names = [name.strip() for name, _, _ in pairs]
    if len(set(names)) < len(names) or "" in names:
        raise PriorError(f"--priors {text!r} names a class twice or not at all; expected cat=0.3,dog=0.7.")
    return dict(zip(names, numbers, strict=True))
