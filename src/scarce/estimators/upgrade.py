"""Classifiers that an earlier version has saved: their parameters, tensors and history under the names of this one."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from scarce._validation import parameter_renames
from scarce.methods import Method
from scarce.methods.registry import method_class

__all__ = ["upgrade_settings", "upgrade_state"]


def upgrade_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the new names of the method's parameters, also where the history is of them.

    Examples
    --------
    >>> old = {"method": "answers", "method_params": {"miss": 0.1}, "history": [{"loss": 2.0, "false": [0.3]}]}
    >>> upgrade_settings(old)["method_params"], upgrade_settings(old)["history"]
    ({'false_negative_rate': 0.1}, [{'loss': 2.0, 'false_positive_rate': [0.3]}])
    """
    renames = parameter_renames(method_class(settings["method"]))
    return settings | {
        "method_params": _renamed(settings["method_params"], renames),
        "history": [_renamed(record, renames) for record in settings["history"]],
    }


def upgrade_state(method: Method, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a method with the names that they, and the methods inside it, now have.

    Examples
    --------
    >>> import torch
    >>> from scarce.methods import make_method
    >>> list(upgrade_state(make_method("refine", base_method="answers"), {"first.miss": torch.zeros(2)}))
    ['base_method.false_negative_rate']
    """
    return {_new_place(method, name): value for name, value in state.items()}


def _new_place(method: Method, name: str) -> str:
    module: Any = method
    places = []
    for old in name.split("."):
        new = parameter_renames(type(module)).get(old, old)
        places.append(new)
        module = getattr(module, new, None)
    return ".".join(places)


def _renamed(values: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    return {renames.get(name, name): value for name, value in values.items()}
