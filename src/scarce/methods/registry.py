"""The registry of methods by name, and the table of methods."""

import inspect
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from scarce._validation import check_option, check_renamed, shorten
from scarce.errors import MethodError
from scarce.methods.base import Method, MethodFacts

MethodClass = TypeVar("MethodClass", bound=type[Method])
_METHODS: dict[str, type[Method]] = {}
COLUMNS = ("name", "method", "assumes", "needs", "labels", "paper")


def register(method: MethodClass) -> MethodClass:
    """Register a method under the name in its facts; use it as a class decorator.

    Parameters
    ----------
    method : type[Method]
        The class.

    Returns
    -------
    type[Method]
        The same class.

    Raises
    ------
    MethodError
        If another method has that name.

    See Also
    --------
    Method : The base class, with an example.

    Examples
    --------
    >>> from scarce.methods import ClassifierConsistent
    >>> register(ClassifierConsistent) is ClassifierConsistent  # registering the same class again changes nothing
    True
    """
    name = method.facts.name
    other = _METHODS.get(name, method)
    if (other.__module__, other.__qualname__) != (method.__module__, method.__qualname__):
        raise MethodError(
            f"the name {name!r} belongs to {other.__module__}.{other.__qualname__}; give "
            f"{method.__module__}.{method.__qualname__} another name in its facts."
        )
    _METHODS[name] = method
    return method


@cache
def _load_entry_points() -> None:
    for entry in entry_points(group="scarce.methods"):
        try:
            register(entry.load())
        except Exception as error:  # the import of another package may raise any exception
            raise MethodError(
                f"the method {entry.name!r} of an installed package cannot be loaded from {entry.value} "
                f"({error}); repair or remove that package."
            ) from error


def available_methods() -> dict[str, MethodFacts]:
    """Return the facts of every known method by name.

    Returns
    -------
    dict[str, MethodFacts]
        In the order of the table of methods.

    See Also
    --------
    make_method : Make a method by name.

    Examples
    --------
    >>> available_methods()["scarce"].needs_priors
    True
    """
    _load_entry_points()
    return {name: method.facts for name, method in _METHODS.items()}


def external_method_class(name: str) -> type[Method] | None:
    """Return the class of a method from another package, so that other processes can register it; None for built-in methods.

    Examples
    --------
    >>> external_method_class("scarce") is None
    True
    """
    available_methods()
    method = _METHODS.get(name)
    return None if method is None or method.__module__.startswith("scarce.") else method


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its name.

    Examples
    --------
    >>> method_class("refine").__name__
    'Refine'
    """
    check_option("method", name, available_methods())
    return _METHODS[name]


def make_method(name: str, /, **params: Any) -> Method:
    """Make a method by name.

    Parameters
    ----------
    name : str
        A name from `available_methods`.
    **params
        Parameters of the method.

    Returns
    -------
    Method

    Raises
    ------
    MethodError
        If the name or a parameter is unknown, or a value is invalid.

    See Also
    --------
    available_methods : The methods and what they assume.

    Examples
    --------
    >>> make_method("scarce", form="ht", correction="relu").params["form"]
    'ht'
    >>> make_method("refine", first="scarce")
    Traceback (most recent call last):
    scarce.errors.MethodError: refine has no parameter 'first'; it is now called 'base_method'.
    """
    method = method_class(name)
    check_renamed(name, method, params)
    signature = inspect.signature(method)
    known = [each.name for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    unknown = [param for param in params if param not in known]
    if unknown:
        raise MethodError(
            f"{name} has no parameter {shorten(unknown[0])}; it takes {', '.join(known) or 'none'}."
        )
    return method(**params)


def _labels(facts: MethodFacts) -> str:
    """Return how many labels an example may have: 1, 1+, 0+."""
    return f"{0 if 'unlabeled' in facts.accepts else 1}{'+' if 'multiple' in facts.accepts else ''}"


def _needs(facts: MethodFacts) -> str:
    """Return what the method needs in addition to the labels."""
    needs = {
        "priors": facts.needs_priors,
        "transition": facts.needs_transition,
        "answers": facts.needs_answers,
    }
    return ", ".join(name for name, needed in needs.items() if needed) or "-"


def method_rows() -> list[tuple[str, ...]]:
    """Return one row per known method: name, title, assumption, needs, labels per example, paper.

    Examples
    --------
    >>> method_rows()[0][:2]
    ('scarce', 'SCARCE')
    """
    return [
        (
            name,
            facts.title,
            facts.assumes,
            _needs(facts),
            _labels(facts),
            facts.paper,
        )
        for name, facts in available_methods().items()
    ]


def methods_markdown() -> str:
    """Return the table in Markdown, with links to the papers; the guide to the methods contains it.

    Examples
    --------
    >>> print(methods_markdown().splitlines()[0])
    | name | method | assumes | needs | labels | paper |
    """
    lines: list[tuple[str, ...]] = [COLUMNS, ("---",) * len(COLUMNS)]
    for (name, *columns, paper), facts in zip(method_rows(), available_methods().values(), strict=True):
        lines.append((f"`{name}`", *columns, f"[{paper}]({facts.url})" if facts.url else paper))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
