"""Upgrade classifiers saved by an earlier version: rename their parameters, tensors and history records."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from scarce._validation import parameter_renames
from scarce.methods import Method
from scarce.methods.registry import method_class

__all__ = ["upgrade_settings", "upgrade_state"]


def upgrade_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the current names of method parameters, method state and history records.

    Examples
    --------
    >>> old = {"method": "answers", "method_params": {"miss": 0.1}, "history": [{"loss": 2.0, "false": [0.3]}]}
    >>> upgrade_settings(old)["method_params"], upgrade_settings(old)["history"]
    ({'false_negative_rate': 0.1}, [{'loss': 2.0, 'false_positive_rate': [0.3]}])
    """
    annotators = settings.get("annotators")
    settings = settings | {"method_state": {} if annotators is None else {"annotators": annotators}}
    if settings.get("stack") is not None:  # nothing in a stack was renamed
        return settings
    method = method_class(settings["method"])
    renames = parameter_renames(method)
    logged = {**renames, **method.renamed_state}
    return settings | {
        "method_params": _renamed(settings["method_params"], renames),
        "history": [_renamed(record, logged) for record in settings["history"]],
    }


def upgrade_state(method: Method, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a method under the current names of its buffers and nested methods.

    Examples
    --------
    >>> import torch
    >>> from scarce.methods import make_method
    >>> list(upgrade_state(make_method("refine", base_method="answers"), {"first.miss": torch.zeros(2)}))
    ['base_method.false_negative_rate']
    """
    return {_present_name(method, name): value for name, value in state.items()}


def _present_name(method: Method, name: str) -> str:
    module: Any = method
    path = []
    for old in name.split("."):
        renames = {**parameter_renames(type(module)), **getattr(module, "renamed_state", {})}
        path.append(renames.get(old, old))
        module = getattr(module, path[-1], None)
    return ".".join(path)


def _renamed(values: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    return {renames.get(name, name): value for name, value in values.items()}
