"""Checkpoints: everything a run needs to go on, in one safetensors file that is either whole or not there."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from scarce._io.atomic import atomic_write
from scarce._io.paths import check_file
from scarce.errors import FileError

__all__ = ["load_state", "save_state"]

_FORMAT = "scarce-state-1"
_TENSOR = "__tensor__"


def save_state(path: str | Path, state: dict[str, Any]) -> None:
    """Write a tree of dicts, lists, numbers, strings and tensors; the file replaces an earlier one at once.

    Examples
    --------
    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_state(f"{folder}/a.safetensors", {"epoch": 3, "weights": [torch.ones(2)]})
    ...     load_state(f"{folder}/a.safetensors")
    {'epoch': 3, 'weights': [tensor([1., 1.])]}
    """
    tensors: dict[str, Tensor] = {}

    def pack(value: Any, place: str) -> Any:
        if isinstance(value, Tensor):
            name = f"{len(tensors)} {place}"  # the number keeps apart {"a": {"b.c": …}} and {"a.b": {"c": …}}
            tensors[name] = value.detach().cpu().contiguous().clone()
            return {_TENSOR: name}
        if isinstance(value, dict):
            return {
                "keys": list(value),
                "values": [pack(item, f"{place}.{key}") for key, item in value.items()],
            }
        if isinstance(value, (list, tuple)):
            return [pack(item, f"{place}.{number}") for number, item in enumerate(value)]
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise FileError(
            f"{path} cannot hold {place}, a {type(value).__name__}; expected dicts, lists, numbers, text or tensors."
        )

    skeleton = json.dumps(pack(state, "state"))
    metadata = {"format": _FORMAT, "skeleton": skeleton, "checksum": _checksum(skeleton, tensors)}
    with atomic_write(path, force=True) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except (OSError, SafetensorError) as error:
            raise FileError(
                f"{path} cannot be written ({error}); an earlier version of it is kept."
            ) from error


def load_state(path: str | Path) -> dict[str, Any]:
    """Read what `save_state` wrote."""
    path = check_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != _FORMAT:
                raise FileError(f"{path} is no checkpoint of scarce; choose another path.")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise FileError(f"{path} is damaged ({error}); delete it (--restart) to start anew.") from error
    skeleton = metadata.get("skeleton", "")
    if metadata.get("checksum") != _checksum(skeleton, tensors):
        raise FileError(f"{path} is damaged (its checksum is wrong); delete it (--restart) to start anew.")

    def unpack(value: Any) -> Any:
        if isinstance(value, list):
            return [unpack(item) for item in value]
        if isinstance(value, dict):
            if _TENSOR in value:
                return tensors[
                    value[_TENSOR]
                ].clone()  # aligned as any tensor: sums depend on it to the last bit
            return dict(zip(value["keys"], map(unpack, value["values"]), strict=True))
        return value

    return unpack(json.loads(skeleton))  # type: ignore[no-any-return]


def _checksum(skeleton: str, tensors: dict[str, Tensor]) -> str:
    """Safetensors notices a file cut short, but not a changed byte among the numbers."""
    value = zlib.crc32(skeleton.encode())
    for name, tensor in sorted(tensors.items()):
        value = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), value)
        value = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, value)
    return f"{value:08x}"
