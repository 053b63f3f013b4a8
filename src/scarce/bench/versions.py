"""By what code a trial is run: a hash of the source that its numbers come from."""

import ast
import hashlib
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from scarce.errors import MethodError
from scarce.methods import make_method
from scarce.priors import PRIOR_ESTIMATORS

__all__ = ["method_version"]

_OURS = "scarce"
# Where mathematics stands that a method takes its numbers from.
_ROOMS = ("scarce.methods.", "scarce.priors.", "scarce.pu.", "scarce.risk.")
_NO_MATHEMATICS = ("scarce.methods.base", "scarce.methods.registry", "scarce.priors.registry")
_INSTALLED = {"site-packages", "dist-packages"}


def method_version(name: str, params: Mapping[str, Any] | None = None) -> str:
    """Return a hash of the source of a method (or an estimator of priors), its bases, and the mathematics it uses.

    What only explains (docstrings, comments) does not count, nor does the interface that all methods share. Of a method that
    is not ours, all modules count that its own imports, directly or not, if they are of its package or lie in its folder.

    Parameters
    ----------
    name : str
    params : mapping, optional
        Its parameters, which may choose another method as a part of it.

    Examples
    --------
    >>> method_version("scarce") == method_version("ga")
    False
    """
    of_priors = PRIOR_ESTIMATORS.get(name)
    made = () if of_priors else make_method(name, **(params or {})).modules()
    return _version_of((of_priors,) if of_priors else tuple(dict.fromkeys(map(type, made))))


@cache
def _version_of(parts: tuple[type, ...]) -> str:
    own = parts[0].__module__
    found: dict[str, ModuleType] = {}
    bases = {base.__module__ for part in parts for base in part.__mro__}
    waiting = [own, *(base for base in bases if _counts(base, own))]
    while waiting:
        module = sys.modules[waiting.pop()]
        if module.__name__ not in found:
            found[module.__name__] = module
            others = _used(module) if _is_ours(own) else _used(module) | _imported(module)
            waiting += [other for other in others if _counts(other, own)]
    sources = (_statements(_source(module)) for _, module in sorted(found.items()))
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:16]


def _used(module: ModuleType) -> set[str]:
    """Return the modules whose functions and classes a module uses."""
    return {str(getattr(value, "__module__", "")) for value in vars(module).values()}


def _imported(module: ModuleType) -> set[str]:
    """Return the modules that the statements of a module import: it may use no function of them but a number."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.__package__)
            found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
    return found


def _counts(module: str, own: str) -> bool:
    """Tell whether a method takes numbers from a module; those of ours stand in a few rooms, those of others anywhere."""
    if module not in sys.modules:
        return False
    if _is_ours(module):
        return module.startswith(_ROOMS) and module not in _NO_MATHEMATICS
    return not _is_ours(own) and (_package(module) == _package(own) or _is_beside(module, own))


def _is_ours(module: str) -> bool:
    return _package(module) == _OURS


def _package(module: str) -> str:
    return module.partition(".")[0]


def _is_beside(module: str, own: str) -> bool:
    """Tell whether a module lies in the folder of the method's own, or below it, and was not installed."""
    path, home = (getattr(sys.modules[name], "__file__", None) for name in (module, own))
    if not path or not home:
        return False
    return Path(path).is_relative_to(Path(home).parent) and _INSTALLED.isdisjoint(Path(path).parts)


def _source(module: ModuleType) -> str:
    """Return the source of a module; nothing of one that is empty or compiled. What has no file cannot be told apart."""
    if getattr(module, "__file__", None) is None:
        raise MethodError(
            f"the source of {module.__name__} cannot be read, and results of its versions could not be told apart; put the "
            "method into a file."
        )
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""


def _statements(source: str) -> str:
    """Return the lines of a module without those of docstrings and comments, and without blank ones."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            start, end = node.lineno - 1, node.end_lineno or node.lineno
            if not lines[start][: node.col_offset].strip():
                lines[start:end] = [""] * (end - start)
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
